"""What a body, a record or a stored value is refused for before any rule is asked."""


class Malformed(Exception):
    """The value has the wrong shape. `field` is the dotted place, empty for the whole; `message` is for people."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message

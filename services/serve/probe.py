"""One patient request for the readiness page: the socket holds it until the API is up and answers."""

import contextlib
import socket

PATH = "/v1/health/ready"


class Probe:
    """A request that never blocks. `poll` is asked now and then; an unready answer is asked again."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.peer: socket.socket | None = None
        self.answer = b""

    def poll(self) -> bool:
        """Whether the API has said that it is ready."""
        if self.peer is None:
            self._ask()
            return False
        try:
            data = self.peer.recv(65536)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        self.answer += data
        if data and b"\r\n" not in self.answer:
            return False
        ready = b" 200 " in self.answer.split(b"\r\n")[0]
        self.close()
        return ready

    def close(self) -> None:
        """Give up the request under way."""
        if self.peer is not None:
            self.peer.close()
        self.peer = None
        self.answer = b""

    def _ask(self) -> None:
        self.answer = b""
        with contextlib.suppress(OSError):
            self.peer = socket.create_connection(self.address, timeout=0.5)
            host = f"{self.address[0]}:{self.address[1]}"
            self.peer.sendall(f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            self.peer.setblocking(False)

"""One version of a table as its several audiences are sent it, each rendered when it is first asked for."""

import msgspec

from services.push.messages import Seat, Shows, Transport, patch_member, view_member
from services.store.feed import Change

Members = dict[str, msgspec.Raw]

_members = msgspec.json.Decoder(Members).decode
_encode = msgspec.json.Encoder().encode
_NULL = msgspec.Raw(b"null")


class Rendering:
    """A change, and the rendering of the one before it, against which patches are made.

    A client applies a patch by replacing the members it names; null is what is gone.
    """

    __slots__ = ("_about", "_before", "_brief", "_messages", "_patches", "_privates", "_public", "change")

    def __init__(self, change: Change, before: "Rendering | None") -> None:
        self.change = change
        follows = before is not None and before.change.version + 1 == change.version
        self._before = before if follows else None
        self._messages: dict[tuple[str, Seat, bool], bytes] = {}
        self._patches: dict[Seat, bytes] = {}
        self._about: Members | None = None
        self._brief: Members | None = None
        self._privates: dict[Seat, Members] = {}
        self._public: bytes | None = None

    def message(self, transport: Transport, seat: Seat, *, has_last: bool) -> bytes:
        """What `seat` is sent; with `has_last` it has the view before this version, and may be sent a patch."""
        patched = has_last and transport.shows is Shows.PATCHES and self._before is not None
        found = self._messages.get((transport.name, seat, patched))
        if found is None:
            change = self.change
            shown = b"" if transport.shows is Shows.NOTHING else self._shown(seat, patched=patched)
            found = transport.version(change.version, change.at, change.events[seat], shown)
            self._messages[transport.name, seat, patched] = found
        return found

    def forget_before(self) -> None:
        """Let go of the rendering before this one, or all versions of a table would hang on a chain."""
        if self._before is not None:
            self._before._before = None

    def _shown(self, seat: Seat, *, patched: bool) -> bytes:
        if not patched:
            return view_member(self.change.view(seat))
        patch = self._patches.get(seat)
        if patch is None:
            patch = self._patches[seat] = self._patch(seat)
        return patch_member(patch)

    def _patch(self, seat: Seat) -> bytes:
        assert self._before is not None
        if self._public is None:
            self._public = self._public_patch(self._before)
        if seat is None:
            return self._public
        if self._before.change.private[seat] == self.change.private[seat]:
            return self._public
        own = _difference(self._before.private(seat), self.private(seat))
        return b"%b,%b" % (self._public[:-1], _encode(own)[1:]) if own else self._public

    def _public_patch(self, before: "Rendering") -> bytes:
        """What changed for everybody; never empty, since the version did."""
        changed = _difference(before.brief(), self.brief())
        if self.change.about_changed:
            changed |= _difference(before.about(), self.about())
        return _encode(changed)

    def about(self) -> Members:
        """The part of the public view that mostly stays the same for a whole deal, by member."""
        if self._about is None:
            self._about = _members(b"{%b}" % self.change.about)
        return self._about

    def brief(self) -> Members:
        """The part of the public view that moves change, by member."""
        if self._brief is None:
            self._brief = _members(b"{%b}" % self.change.brief)
        return self._brief

    def private(self, seat: int) -> Members:
        """The seat's own part of the view, by member."""
        found = self._privates.get(seat)
        if found is None:
            found = self._privates[seat] = _members(b"{%b}" % self.change.private[seat])
        return found


def _difference(old: Members, new: Members) -> Members:
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    if not old.keys() <= new.keys():
        changed |= dict.fromkeys(old.keys() - new.keys(), _NULL)
    return changed

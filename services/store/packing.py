"""Deal records as they are kept: packed, as there is one for every deal that was ever played.

A record is short and says little that other records do not, so it is packed against a text that holds what they have
in common. That text must never change: a later one gets a number of its own, and old records their old one.
"""

import threading
import zlib
from typing import Final

import zstandard

LEVEL: Final = 6

_CARDS: Final = tuple(rank + suit for suit in "hdcs" for rank in "789TJQKA")
_MOVES: Final = (
    '{"seat":2,"type":"choose_trump","blind":4},{"seat":2,"type":"choose_trump","card":"Ah"},'
    '{"seat":2,"type":"discard","cards":["8d","Tc"]},{"seat":1,"type":"discard"},'
    '{"seat":2,"type":"declare","game":"betl"},{"seat":2,"type":"declare","game":"durch"},'
    '{"seat":2,"type":"declare","game":"colour"},{"seat":0,"type":"take_over"},{"seat":0,"type":"good"},'
    '{"seat":1,"type":"good"},{"seat":2,"type":"good"},{"seat":1,"type":"announce","contract":["hra","sedma"]},'
    '{"seat":0,"type":"flek","raise":["hra"],"announce":["sedma_proti"]},'
    '{"seat":0,"type":"flek","raise":["betl"],"announce":[]},'
)
_RESULT: Final = (
    '{"seat":0,"type":"play","card":"Kh","marriage":true},{"seat":0,"type":"play","card":"Qd","marriage":false}],'
    '"result":{"payments":[10,10,-20],"played":true,"capped":false,"points":{"declarer":50,"defence":40},'
    '"marriages":{"declarer":[20],"defence":[]},"parts":[{"part":"sedma","won":false,"level":1,"per_defender":-2,'
    '"sure":false},{"part":"hra","won":true,"level":0,"per_defender":1,"sure":false}]}}'
)


def _common() -> bytes:
    """What most often comes stands last, nearest to what is packed."""
    own = ",".join(f'"{place}":"Ah"' for place in range(32))
    text = (
        f'{{"deck":{{{own}}},"moves":{{"0":{{"card":"Ac"}},"1":{{"cards":["9c","Js"]}}}}}}',
        ",".join(['"??"'] * 32),
        *(f'{{"seat":{seat},"type":"play","card":"{card}"}},' for seat in range(3) for card in _CARDS),
        '{"format":"marias-deal/1","game":"voleny","rules":{"preset":"hospoda"},"dealer":1,"deck":[',
        ",".join(f'"{card}"' for card in _CARDS),
        '],"moves":[',
        _MOVES,
        _RESULT,
    )
    return "".join(text).encode()


COMMON: Final = _common()

_dictionary = zstandard.ZstdCompressionDict(COMMON, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
_dictionary.precompute_compress(level=LEVEL)


class _Tools(threading.local):
    """A packer and an unpacker for each thread: two threads in one of the library's objects crash the process."""

    def __init__(self) -> None:
        self.pack = zstandard.ZstdCompressor(
            level=LEVEL, dict_data=_dictionary, write_dict_id=False, write_content_size=True
        ).compress
        self.unpack = zstandard.ZstdDecompressor(dict_data=_dictionary).decompress


_tools = _Tools()


class Damaged(Exception):
    """What is kept is no record that was packed here."""


def packed(record: bytes) -> bytes:
    """A record, or what a seat knows more of it (JSON), as it is kept."""
    return _tools.pack(record)


def unpacked(kept: bytes) -> bytes:
    """What `packed` of any build was given; JSON that was not packed is as it is. Raises Damaged."""
    if kept.startswith(b"{"):
        return kept
    try:
        return _tools.unpack(kept) if kept.startswith(zstandard.FRAME_HEADER) else zlib.decompress(kept)
    except (zstandard.ZstdError, zlib.error) as error:
        raise Damaged(str(error)) from error

"""Files that were named by somebody, opened without waiting for what is no file."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """The file at `path`, to be read. Raises OSError, also for a folder, a pipe or a device.

    Opening a pipe would wait for somebody who writes to it, and reading a device need not end.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "It is no regular file", str(path))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise

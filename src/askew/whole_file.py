"""A file that is written whole or not at all, under a name that keeps what it was: a link, a device, a mode."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from askew.exceptions import DataError


class WholeFile:
    """A file that appears under its name only when all of it has been written.

    Inside the ``with`` block write to ``beside``. On leaving the block it takes the place of the old file, with the old
    file's mode and, where that is allowed, its owner; on any error, Ctrl-C included, it is removed, and the old file
    stays as it was. A symbolic link stays, and the file it names is replaced. A device or a FIFO is never replaced:
    ``beside`` is then a temporary file, copied into it at the end.

    Parameters
    ----------
    path : str or Path

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "page.html"
    >>> with WholeFile(path) as file:
    ...     _ = file.beside.write_text("done")
    >>> path.read_text()
    'done'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def check(self) -> None:
        """Refuse a name that no file can be written under: a folder, or a file in a folder that does not exist."""
        try:
            self._look()
        except OSError as error:
            raise self._refusal(error) from error

    def __enter__(self) -> Self:
        try:
            self._begin()
        except OSError as error:
            raise self._refusal(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except BrokenPipeError:
            raise
        except OSError as refused:
            raise self._refusal(refused) from refused
        finally:
            self._remains()

    def _look(self) -> None:
        """What stands under the name, links followed, and where the new file will stand."""
        if "\0" in str(self.path):
            raise DataError(f"{str(self.path)!r} cannot be written: a file name holds no null character.")
        self._old: os.stat_result | None = None
        with suppress(FileNotFoundError):
            self._old = self.path.stat()
        self._target = Path(os.path.realpath(self.path))
        if self._old is None or stat.S_ISREG(self._old.st_mode):
            if not self._target.parent.is_dir():
                raise DataError(
                    f"{self.path} cannot be written: the folder {self._target.parent} does not exist. Create it first."
                )
        elif stat.S_ISDIR(self._old.st_mode):
            raise DataError(f"{self.path} is a folder. Give the name of a file.")

    def _begin(self) -> None:
        self._look()
        is_stream = self._old is not None and not stat.S_ISREG(self._old.st_mode)
        self._stream = os.open(self.path, os.O_WRONLY) if is_stream else None
        folder = Path(tempfile.gettempdir()) if is_stream else self._target.parent
        self.beside = folder / f".{self.path.name}.{secrets.token_hex(6)}{self.path.suffix}"
        # Registered before the file exists: an interrupt at any moment, even before the ``with`` block is entered,
        # leaves nothing behind.
        self._remains = weakref.finalize(self, _remove, self.beside, self._stream)
        mode = 0o666 if self._old is None else 0o600  # of a new file by the umask; never more open than the old file
        os.close(os.open(self.beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))

    def _finish(self) -> None:
        if self._stream is not None:
            _copy(self.beside, self._stream)
            return
        if self._old is not None:
            _take_over(self.beside, self._old)
        os.replace(self.beside, self._target)

    def _refusal(self, error: OSError) -> DataError:
        return DataError(f"{self.path} cannot be written: {error.strerror}.")


def _remove(beside: Path, stream: int | None) -> None:
    if stream is not None:
        os.close(stream)
    beside.unlink(missing_ok=True)


def _copy(source: Path, stream: int) -> None:
    with source.open("rb") as file:
        while part := file.read(2**20):
            left = memoryview(part)
            while left:
                left = left[os.write(stream, left) :]


def _take_over(path: Path, old: os.stat_result) -> None:
    """Give a new file the owner, the group (each where that is allowed) and the mode of the old one."""
    if hasattr(os, "chown"):
        for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(path, owner, group)
    path.chmod(stat.S_IMODE(old.st_mode))

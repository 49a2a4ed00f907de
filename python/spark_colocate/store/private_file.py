"""The permissions of a SQLite store: only its owner may read, write and lock it.

Another user could read the audit and the tokens' digests, and a lock of that user would stop every writer. Several
users of a machine share a store in PostgreSQL.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

FILE, FOLDER = 0o600, 0o700
_OTHERS = 0o077
_SIDE_FILES = ("-journal", "-wal", "-shm")
OWN_FOLDER = "_colocate"
"""The folder of the warehouse that is the store's alone."""


class PrivateFile:
    """A store's file, which is made private before SQLite opens it; SQLite gives its rights to the side files."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._told = ""

    def make_folder(self) -> None:
        """The folder for the owner alone; what is missing above it, a warehouse perhaps, as the user's umask says."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        self._folder.mkdir(mode=FOLDER, exist_ok=True)

    def keep(self) -> None:
        """Runs before each connection: creates the file with its rights, or removes the rights of other users."""
        if not os.path.lexists(self._file):
            _make(self._file)
        wide = [file for file in self._own() if _rights(file) & _OTHERS]
        if wide:
            self._tell([file for file in wide if _tightened(file)])

    def exposed(self) -> str:
        """The paths that other users may open, with their rights."""
        found = [file for file in self._own()[1:] if _rights(file) & _OTHERS]
        folder = self._folder
        # where all may write and the sticky bit is missing, they could replace the file
        if _rights(folder) & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            found.insert(0, folder)
        return ", ".join(f"{file} ({_rights(file):04o})" for file in found)

    @property
    def _folder(self) -> Path:
        return self._file.absolute().parent

    def _own(self) -> list[Path]:
        """The paths that only the store uses: its files, and its folder unless the user chose it."""
        side = [self._file.with_name(self._file.name + end) for end in _SIDE_FILES]
        return [self._folder if self._folder.name == OWN_FOLDER else self._file, self._file, *side]

    def _tell(self, tightened: list[Path]) -> None:
        """Once, in the driver's log or on the terminal."""
        if tightened:
            names = " and ".join(map(str, tightened))
            _say(f"Other users of this machine could use the store of groups. Only its owner can now: {names}.")
        exposed = self.exposed()
        if exposed and exposed != self._told:
            _say(f"Other users of this machine can use the store of groups, and this user can't change it: {exposed}.")
        self._told = exposed


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _make(file: Path) -> None:
    """Without opening it: to close a file ends the locks that SQLite holds on it in this process.

    What can't be made is left to SQLite, which says why.
    """
    with suppress(OSError):
        try:
            os.mknod(file, FILE | stat.S_IFREG)
        except PermissionError:  # macOS lets only root do this
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE))


def _tightened(file: Path) -> bool:
    with suppress(OSError):  # another user's
        os.chmod(file, _rights(file) & ~_OTHERS)
    return not _rights(file) & _OTHERS


def _rights(file: Path) -> int:
    """0 for a file that is not there."""
    try:
        return stat.S_IMODE(file.stat().st_mode)
    except OSError:
        return 0

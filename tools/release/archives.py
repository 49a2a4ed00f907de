"""Archives written anew so that the same content gives the same bytes: no times, owners or rights of the machine."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

_OLDEST = datetime(1980, 1, 1, tzinfo=UTC)  # a zip file has no older times


def same_zip(archive: Path, epoch: int) -> None:
    """Rewrites a zip file, such as a wheel, in its order of entries. epoch: the time of all entries, in seconds."""
    with zipfile.ZipFile(archive) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    write_zip(archive, entries, epoch)


def write_zip(archive: Path, entries: Mapping[str, bytes], epoch: int) -> None:
    """Writes entries in the order given. epoch: their time, in seconds; before 1980 it is 1980."""
    time = max(datetime.fromtimestamp(epoch, UTC), _OLDEST).timetuple()[:6]
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, time)
            entry.external_attr = 0o644 << 16
            new.writestr(entry, content, zipfile.ZIP_DEFLATED)


def same_tar(archive: Path, epoch: int) -> None:
    """Rewrites a .tar.gz file, such as an sdist, its files sorted by name. epoch: the time of all, in seconds."""
    with tarfile.open(archive) as old:
        files = {member.name: (member.mode, _read(old, member)) for member in old if member.isfile()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for name, (mode, content) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), epoch
            entry.mode = 0o755 if mode & 0o100 else 0o644
            new.addfile(entry, io.BytesIO(content))
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch))


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = archive.extractfile(member)
    return content.read() if content else b""

"""Archives that were fetched: nothing outside of the folder, nothing without bound."""

import contextlib
import errno
import io
import stat
import tarfile
import zipfile

import pytest

from labeltrick.io.datasets import unpack
from labeltrick.io.datasets.unpack import Limits, unpack_into

LIMITS = Limits(10**6)


def archive(kind, files):
    made = io.BytesIO()
    members = list(files.items()) if isinstance(files, dict) else files
    if kind == "zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, body in members:
                packed.writestr(name, body)
    else:
        with tarfile.open(fileobj=made, mode="w:gz") as packed:
            for name, body in members:
                member = tarfile.TarInfo(name)
                member.size = len(body)
                packed.addfile(member, io.BytesIO(body))
    return made.getvalue()


def refused(folder, body, message, limits=LIMITS):
    """Unpacked into an empty folder: refused, removed, and nothing is left of it."""
    folder.mkdir(exist_ok=True)
    path = folder / "x.part"
    path.write_bytes(body)
    with pytest.raises(ValueError, match=f"`x.part` must be an archive.*{message}"):
        unpack_into(folder, path, "root", limits)
    assert not list(folder.parent.rglob("*.*"))


NAMES = [
    "root/../../evil.txt",
    "root/../evil.txt",
    "../evil.txt",
    "/evil.txt",
    "root\\..\\evil.txt",
    "C:/evil.txt",
    "root/a.txt:stream",
    "root/NUL",
    "root/con.txt",
]


@pytest.mark.parametrize("kind", ["zip", "tgz"])
@pytest.mark.parametrize("name", NAMES)
def test_a_way_out_of_the_folder(tmp_path, kind, name):
    body = archive(kind, {"root/a.txt": b"1", name: b"2"})
    refused(tmp_path / "data", body, "it holds the path")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["root/a.txt", "root/A.txt", "root/./a.txt"])
@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_a_name_twice(tmp_path, kind, name):
    body = archive(kind, [("root/a.txt", b"1"), (name, b"2")])
    refused(tmp_path / "data", body, "it holds '.*' twice")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_tar(tmp_path, kind):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as packed:
        member = tarfile.TarInfo("root/raw")
        member.type, member.linkname = kind, "/etc/passwd"
        packed.addfile(member)
    refused(tmp_path / "data", made.getvalue(), "'root/raw' in it is a link or a device")


def test_links_in_zip(tmp_path):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        entry = zipfile.ZipInfo("root/raw")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(entry, "/etc/passwd")
    refused(tmp_path / "data", made.getvalue(), "'root/raw' in it is a link or a device")


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_sizes_and_numbers_are_capped(tmp_path, kind):
    bomb = archive(kind, {"root/a": b"\0" * 700_000, "root/b": b"\0" * 700_000})
    refused(tmp_path / "data", bomb, "it unpacks to more than 1 MB")
    crowd = archive(kind, {f"root/{k}": b"" for k in range(11)})
    refused(tmp_path / "data", crowd, "it holds more than 10 files", Limits(10**6, 10))


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_archives_cut_short_and_changed(tmp_path, kind):
    whole = archive(kind, {"root/a": bytes(range(256)) * 20, "root/b": b"2"})
    path = tmp_path / "x.part"
    for k in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[k] ^= 0x55
        for body in (whole[:k], bytes(changed)):
            path.write_bytes(body)
            with contextlib.suppress(ValueError):
                unpack_into(tmp_path, path, "root", LIMITS, overwrite=True)
            assert {entry.name for entry in tmp_path.iterdir()} <= {"a", "b", "x.part"}


def test_a_file_and_a_folder_of_one_name(tmp_path):
    body = archive("zip", [("root/a", b"1"), ("root/a/b", b"2")])
    refused(tmp_path / "data", body, "")


def test_a_full_disk_is_not_the_fault_of_the_archive(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.part"
    path.write_bytes(archive("zip", {"root/a": b"1"}))
    monkeypatch.setattr(unpack, "_write_members", full)
    with pytest.raises(OSError, match="No space left"):
        unpack_into(tmp_path, path, "root", LIMITS)
    assert path.exists()


def test_folders_and_files_beside_the_root_are_left(tmp_path):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as packed:
        for name in (".", "./root", "./root/raw"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            packed.addfile(member)
        member = tarfile.TarInfo("./root/raw/a.txt")
        member.size = 1
        packed.addfile(member, io.BytesIO(b"1"))
    path = tmp_path / "x.part"
    path.write_bytes(made.getvalue())
    unpack_into(tmp_path, path, "root", LIMITS)
    assert (tmp_path / "raw" / "a.txt").read_bytes() == b"1"

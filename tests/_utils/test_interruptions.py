"""What the system says about interrupted and refused work is passed on as it is."""

import errno

import pytest

from labeltrick import Graph
from labeltrick._utils.interruptions import after_os_error

NAME = ".labeltrick-tmp-0123456789abcdef"


# -- folders that are replaced -----------------------------------------------------------------
def line(n):
    return Graph.from_edges(range(n - 1), range(1, n))


# -- what is said ------------------------------------------------------------------------------
SAID = {
    "denied": (PermissionError(errno.EACCES, "Permission denied", f"/data/{NAME}"),
               "you may not write to '/data'. ", 2),
    "denied inside": (PermissionError(errno.EPERM, "no", f"/data/{NAME}/new/x.npy"),
                      "you may not write to '/data'. ", 2),
    "by a library": (OSError("Permission denied (os error 13): /data/x.csv"),
                     "You have no permission", 2),
    "read-only": (OSError(errno.EROFS, "Read-only file system", "/data/run"),
                  "'/data/run' is on a file system that is read-only. ", 2),
    "a file above": (NotADirectoryError(errno.ENOTDIR, "Not a directory", "a.txt/g.lt"),
                     "'a.txt/g.lt' must be in a folder; a file is in the way. ", 2),
    "a folder": (IsADirectoryError(errno.EISDIR, "Is a directory", "/data"),
                 "'/data' must be a file; it is a folder. ", 2),
    "full": (OSError(errno.ENOSPC, "no space for x in '/data'"), "Free some space", 1),
    "broken": (OSError(errno.EIO, "Input/output error", "/data"), "Input/output error", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_errors_of_the_system_are_said_as_they_are(case):
    error, said, expected = SAID[case]
    line, code = after_os_error(error)
    assert said in line
    assert code == expected
    assert ("Free some space" in line) == (case == "full")
    assert NAME not in line

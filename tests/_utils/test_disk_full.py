"""Full disks have one wording."""

import errno

from labeltrick._utils.disk_full import no_space


# -- full disks --------------------------------------------------------------------------------
def test_full_disks_have_one_wording():
    reported = no_space(OSError(errno.ENOSPC, "No space left on device"), "/data", "a file", "pay")
    assert (reported.errno, str(reported).split("] ")[1]) == (
        errno.ENOSPC, "no space for a file in '/data' (No space left on device): pay",
    )  # fmt: skip
    other = OSError(errno.EIO, "broken")
    assert no_space(other, "/data") is other

"""Dependencies: what the metadata declare, and whether the installed versions are within."""

import pytest

from labeltrick.app.doctor.requirements import requirements, within


def test_lines_of_metadata():
    found = requirements(
        [
            "numpy<3,>=1.26",
            'tomli>=2; python_version < "3.0"',
            'no-such-package>=1; extra == "torch"',
            'labeltrick[torch]; extra == "all"',
        ]
    )
    assert [(r.name, r.bounds, r.extra) for r in found] == [
        ("numpy", "<3,>=1.26", None),
        ("no-such-package", ">=1", "torch"),
    ]
    assert [r.met for r in found] == [True, False]


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [("2.0", "==2", True), ("2.0.1", "!=2.0.1", False), ("3.0rc1", "<3", False), ("1", "", True)],
)
def test_bounds(version, bounds, expected):
    assert within(version, bounds) is expected

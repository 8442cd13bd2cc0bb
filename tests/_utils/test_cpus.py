"""CPUs that a process may use: affinity and quotas of control groups."""

import pytest

from labeltrick import get_num_threads
from labeltrick._utils import cpus


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (
            {
                "proc/self/cgroup": "0::/jobs/one\n",
                "sys/fs/cgroup/jobs/one/cpu.max": "max 100000\n",
                "sys/fs/cgroup/jobs/cpu.max": "200000 100000\n",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "3:memory:/x\n2:cpu,cpuacct:/x\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "2:cpu,cpuacct:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense"}, None),
    ],
)
def test_quota(tmp_path, files, quota):
    write(tmp_path, files)
    assert cpus.cpu_quota(tmp_path) == quota


@pytest.fixture
def fresh():
    """No quota that an earlier call found is remembered, before and after the test."""
    cpus._quota_in.cache_clear()
    yield
    cpus._quota_in.cache_clear()


def test_threads_follow_the_quota(monkeypatch, fresh):
    second = iter(range(10))
    monkeypatch.setattr(cpus.time, "monotonic", lambda: float(next(second)))
    monkeypatch.delenv("LABELTRICK_NUM_THREADS", raising=False)
    monkeypatch.setattr(cpus, "allowed_cpus", lambda: 8)
    for quota, expected in ((None, 8), (0.5, 1), (1.5, 2), (64.0, 8)):
        monkeypatch.setattr(cpus, "cpu_quota", lambda quota=quota: quota)
        assert get_num_threads() == expected


def test_the_quota_is_read_once_per_second(monkeypatch, fresh):
    moments, reads = iter([7.0, 7.3, 7.9, 8.1]), []
    monkeypatch.setattr(cpus.time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(cpus, "cpu_quota", lambda: reads.append(1))
    counts = [cpus.count_cpus() for _ in range(4)]
    assert set(counts) == {cpus.allowed_cpus()}
    assert len(reads) == 2

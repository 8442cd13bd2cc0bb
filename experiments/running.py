"""Running the experiment files: which ones, with what options, and how long they take."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.ledger import Choice
from experiments.paper import EXPERIMENTS
from labeltrick._utils.progress import Progress, ProgressBar
from labeltrick.app.runs.settings import tomllib
from labeltrick.io import datasets

FOLDER = Path(__file__).resolve().parent
_FILES = {
    "table1": "table1_label_propagation",
    "table2": "table2_boosting",
    "table3": "table3_linear_gnn",
    "table4": "table4_correct_smooth",
    "figure1": "figure1_split_rate",
    "theorems": "theorems",
}


@dataclass(frozen=True)
class Job:
    """One experiment on one dataset. ``seconds`` is the time of one seed on two cores, to estimate
    the time left. ``most`` is the largest number of seeds, if more are not useful or too costly."""

    experiment: str
    dataset: str | None
    options: tuple[str, ...]
    seconds: float
    most: int = 10

    def n_seeds(self, seeds: int) -> int:
        return min(seeds, self.most)


_TABLE_4 = ("--without", "end to end", "in sample", "deterministic")
_FULL = (
    Job("theorems", None, (), 5),
    Job("table1", "pubmed", ("--methods", "LP", "trainable"), 45),
    Job("table1", "ogbn-arxiv", ("--methods", "LP", "trainable"), 600),
    Job("table1", "cora-full", ("--methods", "LP", "trainable"), 400),
    Job("table1", "ogbn-products", ("--methods", "LP", "deterministic"), 900, 1),
    Job("table2", "county-2016", ("--methods", "C&S"), 15),
    Job("table2", "house", ("--methods", "C&S"), 400),
    Job("table2", "vk", ("--methods", "C&S"), 900),
    Job("table2", "avazu", ("--methods", "C&S"), 10),
    Job("table3", "pubmed", (), 120),
    Job("table3", "cora-full", (), 300),
    Job("table3", "ogbn-arxiv", (), 350),
    Job("table4", "pubmed", _TABLE_4, 60),
    Job("table4", "cora-full", _TABLE_4, 300),
    Job("table4", "ogbn-arxiv", _TABLE_4, 1000, 1),
    Job("table4", "ogbn-products", _TABLE_4, 4000, 1),
    Job("figure1", "pubmed", (), 300, 5),
    Job("figure1", "ogbn-arxiv", (), 6000, 1),  # an hour per seed of the GCN; its split is fixed
)
# Every part of the paper whose data are small, without what takes long, and with fewer epochs where
# only the ends of a curve are needed.
_FAST = (
    Job("theorems", None, (), 5, 3),
    Job("table1", "pubmed", ("--methods", "LP", "recipe"), 30),
    Job("table1", "cora-full", ("--methods", "LP"), 1),
    Job("table1", "ogbn-arxiv", ("--methods", "LP", "deterministic"), 30, 1),
    Job("table2", "county-2016", ("--methods", "C&S"), 15),
    Job("table2", "house", ("--methods", "C&S", "--without", "end to end"), 20),
    Job("table3", "pubmed", (), 100),
    Job("table4", "pubmed", _TABLE_4, 60),
    Job("figure1", "pubmed", ("--models", "linear"), 150, 1),
    Job("figure1", "pubmed", ("--models", "gcn", "--epochs", "20", "--hidden", "32"), 60),
)


def choices() -> dict[str, Choice]:
    """The open choices of each experiment's recipe."""
    found = {}
    for name in EXPERIMENTS:
        path = FOLDER / "settings" / f"{name}.toml"
        if path.is_file():
            read = tomllib.loads(path.read_text(encoding="utf-8"))
            said = read.get("underspecified", {})
            found[name] = Choice(said.get("choice", ""), tuple(said.get("methods", ())))
    return found


def plan(experiments: list[str], names: list[str] | None, fast: bool, data_dir: Any) -> list[Job]:
    """The jobs whose data are available."""
    found = []
    for job in _FAST if fast else _FULL:
        if job.experiment not in experiments or (names and job.dataset not in names):
            continue
        if job.dataset is None or datasets.info(job.dataset, data_dir)["here"]:
            found.append(job)
    return found


def nothing_to_run(experiments: list[str], names: list[str] | None, data_dir: Any) -> str:
    """Why a plan is empty."""
    of_these = {job.dataset for job in _FULL if job.experiment in experiments and job.dataset}
    if names and not of_these & set(names):
        has = ", ".join(sorted(of_these)) or "no dataset at all"
        return f"`--dataset` must be one of {' or '.join(experiments)}'s ({has}); got {names[0]!r}."
    wanted = ", ".join(sorted(of_these & set(names) if names else of_these))
    where = f"'{data_dir}'" if data_dir else "the cache (pass --data-dir)"
    return (
        f"`--data-dir` must contain the data to reproduce ({wanted}); found none in {where}. "
        "Fetch it: labeltrick datasets get NAME"
    )


def run_jobs(
    jobs: list[Job],
    seeds: int,
    results: Path,
    data_dir: str | os.PathLike[str] | None,
    progress: Progress = None,
    tell: Any = None,
) -> None:
    """Run the jobs one after the other. Every result is saved at once, so that an interrupted run
    can resume."""
    results.mkdir(parents=True, exist_ok=True)
    costs = [max(1, round(job.seconds * job.n_seeds(seeds))) for job in jobs]
    with ProgressBar(sum(costs), "reproducing", progress) as bar:
        for job, cost in zip(jobs, costs, strict=True):
            _run(job, seeds, results, data_dir, bar, tell)
            bar.advance(cost)


def command(job: Job, seeds: int, results: Path, data_dir: Any) -> list[str]:
    store = results / f"{job.experiment}.jsonl"
    made = [sys.executable, "-m", f"experiments.{_FILES[job.experiment]}"]
    made += ["--store", str(store)]
    made += ["--seeds", str(job.n_seeds(seeds)), *job.options]
    if job.dataset is not None:
        made += ["--datasets", job.dataset]
    if job.dataset is not None and data_dir is not None:
        made += ["--data-dir", str(data_dir)]
    if job.experiment == "figure1":
        made += ["--out", str(results / "figure1.svg")]
    return made


def _run(job: Job, seeds: int, results: Path, data_dir: Any, bar: ProgressBar, tell: Any) -> None:
    where = f"{job.experiment} {job.dataset or ''}".strip()
    bar.advance(0, note=where)
    lines: list[str] = []
    with subprocess.Popen(
        command(job, seeds, results, data_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=FOLDER.parent,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if tell is not None and (" seed " in line or "data absent" in line):
                    tell(f"{where}: {line.strip()}")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        last = next((line for line in reversed(lines) if line.strip()), "no output")
        raise ChildProcessError(
            f"{where} must run to the end; it exited with {process.returncode}: {last.strip()}. "
            "Results so far are saved. Run it again to resume."
        )

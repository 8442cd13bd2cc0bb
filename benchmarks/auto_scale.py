"""AutoModel with its defaults on large graphs, beside GraphSAGE, GCN and SIGN on the same arrays.

    python benchmarks/auto_scale.py --part arxiv --data-dir DATA
    python benchmarks/auto_scale.py --part products --budget 45m      # about 16 GB of memory
    python benchmarks/auto_scale.py --part products --share 0.1 --budget 270s --methods auto
    python benchmarks/auto_scale.py --part folder --budget 90m
    python benchmarks/auto_scale.py --part growth
    python benchmarks/auto_scale.py --write                           # only the table, into docs

Each method runs in a process of its own, whose peak memory is measured. Peers stop when the budget
is over. "products" is a generated graph of that size with 100 columns of features that tell groups
of three classes, 8 % labeled; "folder" is the same from a graph folder with ``max_memory="6GB"``;
"growth" runs AutoModel on 10⁴ to 2·10⁶ nodes of the same degree. Results are appended to
``--store``, and an interrupted run resumes from there; ``--again`` runs them once more.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from auto_scale_problem import FIRST, LAST, Problem, arxiv, generated, prepare
from measure import (
    ROOT,
    describe_machine,
    markdown,
    peak_memory_gib,
    run_in_fresh_process,
    versions,
    write_between_markers,
)

from labeltrick.app.runs.settings import parse_seconds

PARTS, METHODS = ("arxiv", "products", "folder", "growth"), ("auto", "GraphSAGE", "GCN", "SIGN")
BUDGETS = {"arxiv": "10m", "products": "45m", "folder": "90m"}
MEMORY = 16 * 10**9  # bytes that a peer may take
FOLDER_MEMORY = "6GB"
TITLES = {"arxiv": "ogbn-arxiv, ranked guesses", "products": "size of ogbn-products",
          "folder": f"the same from a folder, max_memory={FOLDER_MEMORY}"}  # fmt: skip


def growth_parts() -> list[str]:
    sizes = np.geomspace(FIRST, LAST, 5)
    return [f"growth-{round(size, -3):.0f}" for size in sizes]


def problem_of(given: argparse.Namespace) -> Problem:
    if given.part == "arxiv":
        return arxiv(given.data_dir)
    return generated(given.part, given.work, given.share)


def run_auto(problem: Problem, given: argparse.Namespace) -> dict[str, Any]:
    from labeltrick import AutoModel

    engine: dict[str, Any] = {"engine": "memory"}
    if given.part == "folder":
        engine = {"engine": "disk", "max_memory": FOLDER_MEMORY}
    graph = problem.graph if given.part == "arxiv" else problem.graph.on(**engine)
    begin = time.perf_counter()
    model = AutoModel(budget=parse_seconds(given.budget), progress=False, random_state=given.seed)
    model.fit(problem.X, problem.known, graph=graph, validation=problem.val)
    fitted = time.perf_counter() - begin
    rows = model.predict_proba()
    total = time.perf_counter() - begin
    alone = model.predict_proba(None, problem.known_at(problem.train))  # the features of the fit
    trials = [
        {"name": each.name, "score": each.score, "seconds": each.seconds, "note": each.note}
        for each in model.trials_
        if each.score == each.score or each.note
    ]
    scores = {
        "val": problem.accuracy(rows, problem.val),
        "test": problem.accuracy(rows, problem.test),
        "test_alone": problem.accuracy(alone, problem.test),
    }
    return {"fit": fitted, "seconds": total, **scores, "setting": model.chosen_, "ended": True,
            "trials": trials}  # fmt: skip


def run_peer(problem: Problem, given: argparse.Namespace) -> dict[str, Any]:
    import torch
    from auto_scale_peers import PEERS

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    torch.manual_seed(given.seed)
    np.random.seed(given.seed)
    begin = time.perf_counter()
    until = begin + (parse_seconds(given.budget) or np.inf)
    try:
        found = PEERS[given.run](problem, given.seed, until)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        return {"fit": time.perf_counter() - begin, "val": None, "test": None, "ended": False,
                "setting": f"needs more than {MEMORY / 1e9:.0f} GB"}  # fmt: skip
    scores = {
        name: problem.accuracy(found.rows, getattr(problem, name)) for name in ("val", "test")
    }
    seconds = time.perf_counter() - begin
    return {"fit": seconds, **scores, "setting": found.setting, "ended": found.ended}


def run_one(given: argparse.Namespace) -> dict[str, Any]:
    """One method on one part, in this process."""
    problem = problem_of(given)
    begin = time.perf_counter()
    found = (run_auto if given.run == "auto" else run_peer)(problem, given)
    return {
        "part": given.part,
        "method": given.run,
        "seed": given.seed,
        "share": given.share,
        "budget": given.budget,
        "nodes": len(problem.y),
        "edges": problem.graph.nnz,
        "seconds": time.perf_counter() - begin,
        "peak": peak_memory_gib(),
        "machine": describe_machine(),
        **found,
    }


# -- the table ---------------------------------------------------------------------------------
Results = list[dict[str, Any]]


def stored(path: Path) -> Results:
    """The last result of each method on each part."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return list({key_of(each): each for each in found}.values())


def key_of(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["part"], found["method"], found["seed"], found["share"], found["budget"]


def table(results: Results) -> str:
    """Scores, times and memory of each part at full size."""
    rows = []
    for part, title in TITLES.items():
        for method in METHODS:
            for each in results:
                if (each["part"], each["method"], each["share"]) == (part, method, 1.0):
                    rows.append([f"{title}: {method}", *_cells(each)])
    header = [
        "",
        "test",
        "… by training labels alone",
        "validation",
        "fit",
        "with predictions",
        "budget",
        "peak memory",
        "setting",
    ]
    return markdown(header, rows)


def _cells(each: dict[str, Any]) -> list[str]:
    alone = each.get("test_alone", each["test"])  # peers never see other labels
    scores = [f"{score:.2%}" if score is not None else "–"
              for score in (each["test"], alone, each["val"])]  # fmt: skip
    setting = each["setting"] + ("" if each["ended"] else "; did not end in time")
    times = [f"{each['fit']:.0f} s", f"{each['seconds']:.0f} s", each["budget"]]
    return [*scores, *times, f"{each['peak']:.1f} GiB", setting]


def growth(results: Results) -> str:
    """Times of AutoModel by size, and the exponent of time against nodes."""
    found = [each for each in results if each["part"].startswith("growth-")]
    found.sort(key=lambda each: each["nodes"])
    if len(found) < 2:
        return ""
    rows = [[f"{each['nodes']:,}", f"{each['seconds']:.0f} s", f"{each['peak']:.1f} GiB",
             f"{each['test']:.2%}"] for each in found]  # fmt: skip
    logs = [np.log([each[name] for each in found]) for name in ("nodes", "seconds")]
    slope = np.polyfit(*logs, 1)[0]
    text = markdown(["nodes", "fit and predictions", "peak memory", "test"], rows)
    return f"{text}\nWithout a budget, time grows with the nodes to the power of {slope:.2f}.\n"


def write(results: Results) -> None:
    machines = sorted({each["machine"] for each in results})
    note = (
        "AutoModel with its defaults but for the budget. Its predictions use the labels of "
        "validation nodes as inputs; those by training labels alone do not. Peers are single "
        f"models with usual settings; they may take {MEMORY / 1e9:.0f} GB and the same time, and "
        "stop after two epochs if the fewest that end training would take longer.\n\n"
        f"Measured on: {'; '.join(machines)}. Versions: {versions('torch', 'torch_geometric')}."
    )
    text = "\n".join(part for part in (table(results), growth(results), note) if part)
    write_between_markers(ROOT / "docs" / "results" / "benchmarks.md", "auto-scale", text)


def run_parts(given: argparse.Namespace, work: Path) -> None:
    known = set() if given.again else {key_of(each) for each in stored(given.store)}
    growing = given.part == "growth"
    for part in growth_parts() if growing else [given.part]:
        budget = given.budget or ("none" if growing else BUDGETS[part])
        if part != "arxiv":
            prepare(part, work, given.share)
        for method in ["auto"] if growing else given.methods:
            if (part, method, given.seed, given.share, budget) in known:
                continue
            options = ["--run", method, "--part", part, "--budget", budget, "--work", str(work)]
            options += ["--share", str(given.share), "--seed", str(given.seed)]
            options += ["--data-dir", given.data_dir] if given.data_dir else []
            out = run_in_fresh_process(Path(__file__), *options).splitlines()[-1]
            print(out, flush=True)
            given.store.parent.mkdir(parents=True, exist_ok=True)
            with given.store.open("a") as file:
                file.write(out + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--budget", help="of each fit, such as 45m; by default that of the part")
    parser.add_argument("--share", type=float, default=1.0, help="of the size of generated graphs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-dir")
    parser.add_argument("--work", type=Path, help="folder for graphs; kept, if given")
    parser.add_argument("--store", type=Path, default=ROOT / "results" / "auto-scale.jsonl")
    parser.add_argument("--again", action="store_true", help="run what has been run before, too")
    parser.add_argument("--run", choices=METHODS, help="one method, in this process")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    if given.run:
        print(json.dumps(run_one(given)))
        return
    if given.part:
        if given.part not in PARTS:
            parser.error(f"--part must be one of {', '.join(PARTS)}; got {given.part}.")
        work = given.work or Path(tempfile.mkdtemp(prefix="labeltrick-auto-scale-"))
        work.mkdir(parents=True, exist_ok=True)
        try:
            run_parts(given, work)
        finally:
            if given.work is None:
                shutil.rmtree(work)
    results = stored(given.store)
    print(table(results))
    print(growth(results))
    if given.write:
        write(results)


if __name__ == "__main__":
    main()

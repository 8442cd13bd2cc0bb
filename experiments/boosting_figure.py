"""The figure of docs/guides/boosting.md: the columns that matter most to the trees of its example.

python -m experiments.boosting_figure
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
COLOURS = {"own": "#4477aa", "neighbor": "#ccbb44", "label": "#ee6677"}


def main() -> None:
    page = (ROOT / "docs" / "guides" / "boosting.md").read_text()
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.S)[:2]:
        exec(compile(block, "docs/guides/boosting.md", "exec"), names)
    model = names["model"]
    top = np.argsort(-model.feature_importances_)[:8][::-1]
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for place, k in enumerate(top):
        group = model.feature_groups_[k]
        axes.barh(place, 100 * model.feature_importances_[k], color=COLOURS[group])
    axes.set_yticks(range(len(top)), [model.feature_names_[k] for k in top])
    axes.set_xlabel("share of what the trees gained, %")
    shares = model.group_importances_
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[group]) for group in shares]
    axes.legend(
        handles,
        [f"{group} ({100 * share:.0f} %)" for group, share in shares.items()],
        loc="lower right",
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "figures" / "importances.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

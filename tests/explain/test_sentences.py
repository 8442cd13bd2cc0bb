"""Explanations as sentences."""

from labeltrick.explain import Contribution, Explanation


def explanation(contributions, task="classification", **changes):
    values = dict(
        node="C-7", output="churn", prediction="churn", score=0.81, baseline=0.5,
        without_labels=0.52, contributions=tuple(contributions), rest=0.0, additive=True,
        error_bound=None, labeled=False, task=task,
    )  # fmt: skip
    return Explanation(**(values | changes))


def label(source, value, effect, near=True, adds_up=True):
    return Contribution("label", source, value, effect, adds_up, near)


def test_labels_columns_and_edges():
    found = explanation(
        [
            *(label(f"C-{k}", "churn", 0.1) for k in range(4)),
            label("D-1", "stay", -0.06, near=False),
            Contribution("own column", "age", 34.0, 0.08, True),
            Contribution("neighbor column", "age", None, 0.03, True),
            Contribution("edge", "C-1", None, -0.2),
        ]
    )
    assert str(found) == (
        "C-7: predicted churn (0.81): 4 labeled neighbors are churn (+0.40: C-0, C-1, C-2, …), "
        "1 labeled node nearby is stay (−0.06: D-1), age = 34 (+0.08), age of neighbors (+0.03), "
        "the edge to C-1 (−0.20); without labels it would be 0.52. Effects of edges are those of "
        "one change each and do not add up."
    )


def test_effects_that_do_not_add_up_say_so():
    labels = [label(f"C-{k}", "churn", 0.1 * k, adds_up=False) for k in (2, 1)]
    found = explanation(labels, additive=False)
    assert "2 labeled neighbors are churn (C-2 +0.20, C-1 +0.10);" in str(found)
    assert "they do not add up to the score." in str(found)
    assert "add up" not in str(explanation([label("C-1", "churn", 0.1)]))


def test_labels_that_replace_each_other():
    found = explanation([label(f"C-{k}", "churn", 1e-9) for k in range(4)])
    assert "all labels together (+0.29: C-0, C-1, C-2, …)" in str(found)


def test_own_labels_and_other_outputs():
    assert "(0.81), its own label left out:" in str(explanation([], labeled=True))
    text = str(explanation([], output="stay", score=0.19, without_labels=0.19))
    assert text.startswith("C-7: predicted churn; stay (0.19): no single label or column decides")


def test_numbers_and_several_labels():
    labels = [label("a", 2.5, 1.25), label("b", 4.0, 0.5)]
    found = explanation(labels, "regression", output=None, prediction=3.4567, score=3.4567)
    assert "C-7: predicted 3.457: 2 labeled neighbors with 2.5 to 4 (+1.75: a, b)" in str(found)
    labels = [label("a", 1, 0.2), label("b", 0, 0.1)]
    found = explanation(labels, "multilabel", output="drama", prediction=0)
    assert "C-7: not predicted drama (0.81): 2 labeled neighbors of which 1 has it" in str(found)
    found = explanation([label("a", 0, -0.1)], "multilabel", output="drama", prediction=1)
    assert "1 labeled neighbor that lacks it (−0.10: a)" in str(found)


def test_names_from_data_are_shown_on_one_line():
    found = explanation([label("x\x1b[2J\ny", "churn", 0.3)], node="n\n1")
    assert "\n" not in str(found)
    assert "\x1b" not in str(found)

"""LightGBM's trees: fitted with early stopping, with one booster per target where needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags

from ..._utils.allowance import steps
from ..._utils.progress import Progress, ProgressBar
from ..._utils.threads import get_num_threads
from .node_columns import NodeColumns

_SMALL_TABLE = 2_000_000  # values
_MANY_COLUMNS = 200
_RESERVED = (  # with LightGBM's aliases
    *("objective", "objective_type", "app", "application", "loss", "num_class", "num_classes"),
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
    *("num_rounds", "nrounds", "num_boost_round", "n_estimators", "max_iter"),
    *("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    *("verbose", "verbosity"),
)
_OUTSIDE = (  # parameters that concern files and other machines
    *("config", "config_file", "task", "task_type", "data", "train", "train_data", "valid", "test"),
    *("input_model", "output_model", "output_result", "save_binary", "snapshot_freq", "machines"),
    *("machine_list_filename", "num_machines", "local_listen_port", "forcedsplits_filename"),
    *("forcedbins_filename", "parser_config_file", "convert_model", "initscore_filename"),
    *("workers", "nodes", "mlist", "machine_list", "machine_list_file", "num_machine", "port"),
    *("local_port", "fs", "forced_splits", "forced_splits_file", "forced_splits_filename"),
    *("model_input", "model_in", "model_output", "model_out", "save_period", "is_save_binary"),
    *("is_save_binary_file", "predict_result", "prediction_result", "predict_name", "pred_name"),
    *("prediction_name", "name_pred", "train_data_file", "data_filename", "valid_data"),
    *("valid_data_file", "test_data", "test_data_file", "valid_filenames", "convert_model_file"),
)


@dataclass(frozen=True)
class TreeOptions:
    """How trees are grown; ``extra`` is passed to LightGBM unchanged."""

    n_rounds: int | tuple[int, ...] = 1000  # for all boosters, or one number per booster
    learning_rate: float = 0.05
    max_leaves: int = 31
    patience: int = 50
    seed: int = 0
    extra: tuple[tuple[str, Any], ...] = ()

    def rounds_of(self, booster: int) -> int:
        return self.n_rounds if isinstance(self.n_rounds, int) else self.n_rounds[booster]

    @property
    def most_rounds(self) -> int:
        return self.n_rounds if isinstance(self.n_rounds, int) else max(self.n_rounds)

    def total_rounds(self, task: str, n_outputs: int) -> int:
        """Rounds of all boosters together, at most."""
        return self.most_rounds * (1 if task == "classification" else n_outputs)

    def parameters(self, columns: NodeColumns, **more: Any) -> dict[str, Any]:
        found = {
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaves,
            "min_data_in_leaf": int(np.clip(columns.values.shape[0] // 8, 1, 10)),
            "feature_fraction": 0.8,
            "lambda_l2": 1.0,
            "seed": self.seed % (2**31 - 1),
            "deterministic": True,
            **_histograms_by(columns.values),
            "verbosity": -1,
            **threads_for(columns.values),
            **more,
            **dict(self.extra),
        }
        if "monotone_constraints" in found:
            found["monotone_constraints"] = _by_name(found["monotone_constraints"], columns)
        return found


def check_extra(extra: Any) -> tuple[tuple[str, Any], ...]:
    """Check the parameters that the user passes to LightGBM."""
    if extra is None:
        return ()
    if not isinstance(extra, dict):
        raise TypeError(
            f"`lightgbm_params` must be a dict of LightGBM's parameters; got {extra!r}."
        )
    for name in extra:
        if name in _RESERVED:
            raise ValueError(
                f"`lightgbm_params` must not set {name!r}, which is set from task, n_rounds and "
                "patience."
            )
        if name in _OUTSIDE:
            raise ValueError(
                f"`lightgbm_params` must not set {name!r}, which reads or writes files or connects "
                "to other machines."
            )
    return tuple(sorted(extra.items()))


def _histograms_by(values: Any) -> dict[str, bool]:
    """Build histograms by column if there are many, which is a quarter faster. LightGBM would time
    both ways and choose, and rounding would differ from run to run."""
    many = values.shape[1] >= _MANY_COLUMNS
    return {"force_col_wise": many, "force_row_wise": not many}


def threads_for(values: Any) -> dict[str, int]:
    """One thread for small tables, where synchronizing threads takes longer than a round."""
    small = values.shape[0] * values.shape[1] < _SMALL_TABLE
    return {"num_threads": 1 if small else get_num_threads()}


def _by_name(given: Any, columns: NodeColumns) -> list[int]:
    """One constraint per column from a dict by names; columns that are not named get 0."""
    where = "'monotone_constraints'"
    if not isinstance(given, dict):
        given = [int(entry) for entry in given]
        if len(given) > len(columns.names):
            raise ValueError(
                f"`lightgbm_params` must have at most {len(columns.names)} numbers in {where}, one "
                f"per column; got {len(given)}."
            )
        given = dict(zip(columns.names, given, strict=False))
    unknown = [name for name in given if name not in columns.names]
    if unknown:
        raise ValueError(
            f"`lightgbm_params` must name columns in {where}; got {unknown[0]!r}. Choose from: "
            f"{', '.join(columns.names[:20])}."
        )
    found = [int(given.get(name, 0)) for name in columns.names]
    for place in columns.categorical:
        if found[place]:
            raise ValueError(
                f"`lightgbm_params` must not name categorical columns in {where}; got "
                f"{columns.names[place]!r}."
            )
    return found


@dataclass(frozen=True)
class Trees:
    """The boosters of one task: one for all classes, or one per number or label."""

    boosters: tuple[Any, ...]
    task: str
    n_columns: int

    def predict(self, values: Any) -> np.ndarray:
        """Probabilities or numbers, of shape (n, c)."""
        if not self.boosters:  # a single class
            return np.ones((values.shape[0], 1))
        threads = threads_for(values)
        found = [np.asarray(booster.predict(values, **threads)) for booster in self.boosters]
        if self.task == "classification":
            rows = found[0]
            return np.column_stack([1 - rows, rows]) if rows.ndim == 1 else rows
        return np.column_stack(found)

    def gain(self) -> np.ndarray:
        """Total gain of the splits on each column, over all boosters."""
        gains = [booster.feature_importance("gain") for booster in self.boosters]
        return np.sum(gains, axis=0) if gains else np.zeros(self.n_columns)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Number of rounds of each booster, at least one."""
        return tuple(max(booster.current_iteration(), 1) for booster in self.boosters)

    @property
    def n_rounds(self) -> int:
        return max(self.rounds, default=0)


def fit_trees(
    columns: NodeColumns,
    Y: np.ndarray,
    weight: np.ndarray,
    validation: tuple[Any, np.ndarray, np.ndarray] | None,
    task: str,
    options: TreeOptions,
    bar: ProgressBar,
) -> Trees:
    """Fit trees; ``validation`` (values, targets, weights) chooses the number of rounds."""
    import lightgbm

    c, width = Y.shape[1], len(columns.names)
    if task == "classification" and c == 1:
        return Trees((), task, width)  # a single class: nothing to learn
    objective: dict[str, Any] = {"objective": "regression" if task == "regression" else "binary"}
    if task == "classification" and c > 2:
        objective = {"objective": "multiclass", "num_class": c}

    def targets(Y: np.ndarray) -> list[np.ndarray]:
        return [Y.argmax(axis=1)] if task == "classification" else list(Y.T)

    # LightGBM's limits on leaves depend on the sum of weights, but only ratios should matter.
    weight = weight / weight.mean()
    parameters = options.parameters(columns, **objective)
    boosters = []
    for k, y in enumerate(targets(Y)):
        data = dataset(columns, y, weight, parameters)
        callbacks: list[Any] = [lambda _: bar.advance()]
        sets = []
        if validation is not None:
            values, truth, importance = validation[0], targets(validation[1])[k], validation[2]
            importance = importance / importance.mean()
            sets = [data.create_valid(values, truth, weight=importance, params=parameters)]
            callbacks.append(lightgbm.early_stopping(options.patience, verbose=False))
        callbacks.append(_while_allowed())
        run = (parameters, data, options.rounds_of(k), sets)
        try:
            boosters.append(trimmed(lightgbm.train(*run, callbacks=callbacks)))
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(
                f"`lightgbm_params` must be valid for LightGBM; got the error: {error}."
            ) from None
    return Trees(tuple(boosters), task, width)


def _while_allowed() -> Any:
    """A callback that ends boosting when time is over, with the best round so far."""
    from lightgbm.callback import EarlyStopException

    another, best = steps(), []

    def callback(env: Any) -> None:
        for _, _, value, higher in env.evaluation_result_list[:1]:
            best.append((value if higher else -value, -env.iteration))
        if not another():
            round_ = -max(best)[1] if best else env.iteration
            raise EarlyStopException(round_, env.evaluation_result_list)

    callback.order = 40  # type: ignore[attr-defined]  # after LightGBM's own early stopping
    return callback


def dataset(columns: NodeColumns, y: Any, weight: Any, parameters: dict[str, Any]) -> Any:
    import lightgbm

    options: dict[str, Any] = {"weight": weight, "params": parameters, "free_raw_data": False}
    return lightgbm.Dataset(columns.values, y, categorical_feature=columns.categorical, **options)


def trimmed(booster: Any, n_rounds: int | None = None) -> Any:
    """The booster up to its best round, without its training data."""
    import lightgbm

    best = n_rounds or booster.best_iteration
    text = booster.model_to_string(num_iteration=best if best and best > 0 else None)
    return lightgbm.Booster(model_str=text)


class TreeBase(BaseEstimator):
    """``options.n_rounds`` rounds of boosted trees, as the base of Correct & Smooth.

    ``names`` are the names of the columns, for parameters that refer to them.
    """

    def __init__(
        self,
        task: str = "regression",
        options: TreeOptions | None = None,
        *,
        names: tuple[str, ...] = (),
        categorical: tuple[int, ...] = (),
        random_state: Any = None,
        progress: Progress = None,
    ) -> None:
        self.task = task
        self.options = options
        self.names = names
        self.categorical = categorical
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeBase:
        if self.task == "classification":
            self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
            Y = np.eye(len(self.classes_))[codes]
        else:
            Y = np.asarray(y, np.float64).reshape(len(y), -1)
            self.classes_ = np.arange(Y.shape[1])
        weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, float)
        options = replace(self.options or TreeOptions(), seed=int(self.random_state or 0))
        names = list(self.names) or [f"column {k}" for k in range(X.shape[1])]
        columns = NodeColumns.own(X, names, list(self.categorical))
        total = options.total_rounds(self.task, Y.shape[1])
        with ProgressBar(total, "trees", self.progress) as bar:
            self.trees_ = fit_trees(columns, Y, weight, None, self.task, options, bar)
        return self

    def predict(self, X: Any) -> np.ndarray:
        rows = self.trees_.predict(X)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.trees_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.multi_output = True
        return tags

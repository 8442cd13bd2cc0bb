"""Every public class and function has a docstring that describes each parameter with its type and
default, says what to see also, and has an example; numpydoc's validator does the work."""

import dataclasses
import importlib
import importlib.util
import inspect

import pytest

pytest.importorskip("numpydoc")
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

ROOMS = (
    "graph",
    "propagation",
    "self_exclusion",
    "evaluation",
    "models",
    "explain",
    "io",
    "io.tables",
    "nn",
)
# Missing or misspelled parameters, wrong order, no type, no description; no docstring at all.
CODES = {"GL08", "PR01", "PR02", "PR03", "PR04", "PR07"}

# What the engine and the readers call; one line describes each of their methods.
INTERNAL = {
    "Graph.with_compute", "NormalizedAdjacency", "NodeIds", "Problem", "SelfWeight", "Split",
    "Spread", "StoredGraph",
}  # fmt: skip


def public_names():
    """Path and value of all classes and functions that the rooms export, once each."""
    found = {}
    for room in ("", *ROOMS, "io.datasets", "evaluation.metrics"):
        if room == "nn" and importlib.util.find_spec("torch") is None:
            continue
        module = importlib.import_module(f"labeltrick.{room}".rstrip("."))
        own = [name for name in vars(module) if name[0] != "_"]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            home = getattr(value, "__module__", "")
            exported = hasattr(module, "__all__") or home == module.__name__
            if callable(value) and exported and home.startswith("labeltrick"):
                found[f"{home}.{value.__qualname__}"] = value
    return found


def described(path, value):
    """The object itself and, of a class, its public methods. Methods that a base class describes
    are left to that class."""
    yield path
    for name, member in vars(value).items() if inspect.isclass(value) else ():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        inherited = any(
            getattr(vars(base).get(name), "__doc__", None) for base in value.__mro__[1:]
        )
        internal = {value.__name__, f"{value.__name__}.{name}"} & INTERNAL
        if name[0] != "_" and inspect.isfunction(plain) and not inherited and not internal:
            yield f"{path}.{name}"


PATHS = [path for name, value in public_names().items() for path in described(name, value)]


def is_record(value):
    """Whether it is a dataclass whose fields are described as attributes; estimators' are not."""
    described = "Attributes\n" in (value.__doc__ or "")
    return dataclasses.is_dataclass(value) and described and not hasattr(value, "get_params")


@pytest.mark.parametrize("path", PATHS)
def test_docstring(path):
    value = Validator._load_obj(path)
    wanted = CODES - {"PR01"} if is_record(value) else CODES
    found = [f"{code}: {text}" for code, text in validate(path)["errors"] if code in wanted]
    assert not found, "\n".join(found)
    if is_record(value):
        for field in dataclasses.fields(value):
            assert field.name.startswith("_") or field.name in value.__doc__, field.name


@pytest.mark.parametrize("path", PATHS)
def test_defaults_are_stated(path):
    value = Validator._load_obj(path)
    documented = Validator(get_doc_object(value)).doc_all_parameters
    for parameter in inspect.signature(value).parameters.values():
        if parameter.default is inspect.Parameter.empty or parameter.name not in documented:
            continue
        kind = documented[parameter.name][0]
        assert "default" in kind or "optional" in kind, f"{parameter.name} : {kind}"


@pytest.mark.parametrize("path", sorted(public_names()))
def test_see_also_names_what_exists(path):
    """Names are written as they are imported from ``labeltrick``, each with a sentence."""
    document = get_doc_object(Validator._load_obj(path))
    named = [(name, text) for group, text in document["See Also"] for name, _ in group]
    assert named, "add a section See Also with two or three names"
    for name, text in named:
        value = importlib.import_module("labeltrick")
        for step in name.split("."):
            value = getattr(value, step)
        assert " ".join(text).endswith("."), f"{name} : {text}"
        assert value is not Validator._load_obj(path), f"{name} names itself"


@pytest.mark.parametrize("path", sorted(public_names()))
def test_docstring_has_an_example(path):
    """``tests/test_docs.py`` runs it."""
    document = get_doc_object(Validator._load_obj(path))
    assert any(line.startswith(">>> ") for line in document["Examples"]), "add a section Examples"

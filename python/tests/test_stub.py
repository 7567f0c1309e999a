"""Does the stub describe the compiled module, name by name and argument by argument?"""

from __future__ import annotations

import ast
import inspect

import pytest

from interpulse import _core
from tests.sample import PACKAGE

STUB = ast.parse((PACKAGE / "_core.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def test_the_names_are_the_same() -> None:
    annotated = {
        node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    listed = next(node.value for node in STUB.body if isinstance(node, ast.Assign))
    stub_all = ast.literal_eval(listed)
    real = {name for name in vars(_core) if not name.startswith("_")}
    assert {*CLASSES, *FUNCTIONS, *annotated} == set(stub_all) == set(vars(_core)["__all__"]) == real


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_same_arguments(name: str) -> None:
    assert list(inspect.signature(getattr(_core, name)).parameters) == [arg.arg for arg in FUNCTIONS[name].args.args]


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_same_members_and_bases(name: str) -> None:
    real = getattr(_core, name)
    node = CLASSES[name]
    assert [base.id for base in node.bases if isinstance(base, ast.Name)] == (
        [real.__base__.__name__] if issubclass(real, Exception) else []
    )
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    made = methods.pop("__new__", None)
    if made is None:
        assert "__new__" not in vars(real)
    else:
        assert list(inspect.signature(real).parameters) == [arg.arg for arg in made.args.args[1:]]
    attributes = {
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    assert {*methods, *attributes} == {each for each in vars(real) if not each.startswith("_")}
    for method, described in methods.items():
        is_property = any(isinstance(each, ast.Name) and each.id == "property" for each in described.decorator_list)
        assert inspect.isgetsetdescriptor(vars(real)[method]) == is_property
        if not is_property:
            arguments = list(inspect.signature(vars(real)[method]).parameters)
            assert arguments == [arg.arg for arg in described.args.args]


def test_everything_has_a_docstring() -> None:
    for name in [*CLASSES, *FUNCTIONS]:
        assert getattr(_core, name).__doc__, f"{name} has no docstring"

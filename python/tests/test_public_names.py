"""Do `dir` and `help` of the package show its names, with types that say what a caller may pass?"""

from __future__ import annotations

import inspect
import pydoc

import pytest

import interpulse

FUNCTIONS = [name for name in interpulse.__all__ if inspect.isfunction(getattr(interpulse, name))]


def test_dir_shows_the_public_names() -> None:
    assert dir(interpulse) == sorted(interpulse.__all__)
    assert {"run", "compare", "advise", "rank", "slo", "life", "optimize", "fit", "sweep"} <= set(FUNCTIONS)


def test_help_shows_the_public_names() -> None:
    text = pydoc.plain(pydoc.render_doc(interpulse))
    assert not [name for name in interpulse.__all__ if name not in text and name != "__version__"]
    assert "A first run:" in text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes(name: str) -> None:
    signature = inspect.signature(getattr(interpulse, name))
    for parameter in signature.parameters.values():
        assert parameter.annotation not in (inspect.Parameter.empty, "object"), parameter
        assert "object" not in str(parameter.annotation).replace("[", " ").replace("]", " ").split(), parameter
        assert f"{parameter.name}:" in (getattr(interpulse, name).__doc__ or ""), f"{parameter.name} has no meaning"
    assert signature.return_annotation not in (inspect.Signature.empty, "object")


@pytest.mark.parametrize("name", sorted(set(interpulse.__all__) - {"__version__"}))
def test_a_public_method_says_what_it_takes(name: str) -> None:
    what = getattr(interpulse, name)
    assert inspect.getdoc(what)
    for member, value in vars(what).items() if inspect.isclass(what) else ():
        function = getattr(value, "__func__", value)
        if member.startswith("_") or not inspect.isfunction(function):
            continue
        assert inspect.getdoc(function), f"{name}.{member}"
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            assert parameter.annotation not in (inspect.Parameter.empty, "object"), f"{name}.{member}: {parameter}"

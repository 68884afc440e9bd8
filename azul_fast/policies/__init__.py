"""The policies by name, and how a name with parameters or a file is read. This file is free of numba.

``random``, ``tidy`` and ``greedy`` are played inside the general kernel; all others are functions that it calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azul_fast.errors import AzulError, shown
from azul_fast.policies.defaults import BUDGETS, LEAST, PARAMETERS

POLICIES = ("random", "tidy", "greedy")  # the index is the id that kernels use
RANDOM, TIDY, GREEDY = range(len(POLICIES))
BUILT_IN = (*POLICIES, *PARAMETERS)

_MOST = 2**53  # of a budget: whole numbers are exact up to there
_FUNCTIONS: dict[str, Callable[..., int]] = {}  # [name] -> function given to `policy`


@dataclass(frozen=True)
class PolicySpec:
    """A policy as named: ``plan``, ``plan:column=0:row=2``, ``mybots.py::careful``.

    Attributes
    ----------
    text : str
        The whole name.
    name : str
        The built-in's name, or that of the function.
    file : str or None
        The file that has the function.
    given : tuple of (str, float)
        The parameters written, in that order.
    """

    text: str
    name: str
    file: str | None
    given: tuple[tuple[str, float], ...]

    @property
    def is_kernel(self) -> bool:
        """Whether the general kernel plays it itself."""
        return self.file is None and self.name in POLICIES

    @property
    def numbers(self) -> list[float]:
        """What the function finds in ``view.parameters``."""
        if self.file is None and self.name in PARAMETERS:
            given = dict(self.given)
            if self.name in BUDGETS and given.get("time", 0) > 0:
                given.setdefault(BUDGETS[self.name], _MOST)
            return [given.get(key, default) for key, default in PARAMETERS[self.name].items()]
        return [value for _, value in self.given]


def parse_policy(text: str) -> PolicySpec:
    """Read the name of a policy; numba is not imported.

    Raises
    ------
    AzulError
        One line that names what is wrong, and what would be right.
    """
    if not isinstance(text, str):
        raise AzulError(f"policy must be a name, not {shown(text)}")
    file, double_colon, rest = text.rpartition(".py::")
    if "::" in rest:
        raise AzulError(f"policy {shown(text)}: one of your own is written FILE.py::NAME")
    name, *parameters = rest.split(":")
    given = tuple(_parameter(part, text) for part in parameters)
    if len({key for key, _ in given}) < len(given):
        raise AzulError(f"policy {shown(text)}: a parameter is given twice")
    if double_colon:
        _check_file(file + ".py", name)
        return PolicySpec(text, name, file + ".py", given)
    if name in _FUNCTIONS:
        return PolicySpec(text, name, None, given)
    if name not in BUILT_IN:
        raise AzulError(f"policy must be {', '.join(BUILT_IN)} or FILE.py::NAME, not {shown(text)}")
    known = PARAMETERS.get(name, {})
    for key, value in given:
        if not known:
            raise AzulError(f"policy {name} has no parameters, not {shown(key)}")
        if key not in known:
            raise AzulError(f"policy {name} has the parameters {', '.join(known)}, not {shown(key)}")
        if key in LEAST.get(name, {}) and not (value.is_integer() and LEAST[name][key] <= value <= _MOST):
            raise AzulError(f"policy {name}: {key} is a whole number from {LEAST[name][key]} on, not {value:g}")
        if key == "time" and name in BUDGETS and value < 0:
            raise AzulError(f"policy {name}: time is a number of seconds from 0 on, not {value:g}")
    if name == "mcts" and dict(given).get("reuse", 0) > 1:
        raise AzulError("policy mcts: reuse is 0 or 1")
    if name == "mcts" and dict(given).get("policy", 0) >= len(POLICIES):
        raise AzulError(f"policy mcts: policy is {', '.join(POLICIES)} or 0 to {len(POLICIES) - 1}")
    return PolicySpec(text, name, None, given)


def _parameter(part: str, text: str) -> tuple[str, float]:
    key, equals, value = part.partition("=")
    if key == "policy" and value in POLICIES:
        return key, float(POLICIES.index(value))
    try:
        number = float(value.replace("_", ""))
        if not equals or number != number or number in (float("inf"), float("-inf")):
            raise ValueError
    except ValueError:
        raise AzulError(f"policy {shown(text)}: parameters are written name=number, not {shown(part)}") from None
    return key, number


def _check_file(path: str, name: str) -> None:
    try:
        tree = ast.parse(Path(path).read_bytes(), path)
    except OSError as error:
        raise AzulError(f"policy file {path}: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise AzulError(f"policy file {path}{f', line {line}' if line else ''}: not Python: {error}") from None
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if name not in names:
        raise AzulError(f"policy file {path} has no function {shown(name)}: {', '.join(names) or 'none at all'}")


def policy(function: Callable[..., Any], name: str | None = None) -> str:
    """Make a compiled function a policy, and return its name for `azul_fast.simulate` and the others.

    Parameters
    ----------
    function : numba function
        Of one `azul_fast.policies.view.View`; returns an action index.
    name : str, optional
        The function's own when not given.

    Raises
    ------
    AzulError
        If it is not a compiled function, or the name is taken by another.
    """
    if not callable(getattr(function, "py_func", None)):
        raise AzulError(f"policy: a function compiled with numba.njit is needed, not {shown(function)}")
    name = name or function.__name__
    if not name.isidentifier() or name in BUILT_IN or _FUNCTIONS.get(name, function) is not function:
        raise AzulError(f"policy: the name {shown(name)} is taken or not a name")
    _FUNCTIONS[name] = function
    return name


def given_function(name: str) -> Callable[..., int] | None:
    """The function that `policy` was given under `name`."""
    return _FUNCTIONS.get(name)


def describe_parameters() -> Mapping[str, Mapping[str, float]]:
    """The parameters of each built-in policy that has some, with their defaults."""
    return PARAMETERS

"""`Static`: whole numbers that are part of a kernel's type.

A kernel that is passed a `Static` is compiled once for each set of values, with the values as constants, and each
set has its own entry in the cache of compiled kernels (see `azul_fast._jit`). A module constant could not do that:
the cache does not know about it, and there is one value a process.
"""

from __future__ import annotations

from typing import NoReturn

from llvmlite import ir
from numba.core import types
from numba.core.extending import NativeValue, models, register_model, unbox
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic, typeof_impl


class Static:
    """Named whole numbers, read in kernels as attributes; two with the same names and values are the same type.

    Parameters
    ----------
    **values : int
        Names and values, for example ``Static(players=2, lanes=8)``.
    """

    def __init__(self, **values: int) -> None:
        self.__dict__.update({name: int(value) for name, value in values.items()})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Static cannot be changed: kernels are compiled for its values")

    def __repr__(self) -> str:
        return f"Static({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


class StaticType(types.Type):
    """The Numba type of a `Static`; it has no data."""

    def __init__(self, values: tuple[tuple[str, int], ...]):
        self.values = dict(values)
        super().__init__(name=f"static({', '.join(f'{name}={value}' for name, value in values)})")


@typeof_impl.register(Static)
def _typeof_static(value, context):
    return StaticType(tuple(value.__dict__.items()))


register_model(StaticType)(models.OpaqueModel)


@unbox(StaticType)
def _unbox_static(static_type, value, c):
    return NativeValue(c.context.get_dummy_value())


@infer_getattr
class _StaticAttributes(AttributeTemplate):
    key = StaticType

    def generic_resolve(self, static_type, name):
        if name in static_type.values:
            return types.literal(static_type.values[name])  # a literal: the value is known to type inference too
        return None


@lower_getattr_generic(StaticType)
def _lower_attribute(context, builder, static_type, value, name):
    return ir.Constant(ir.IntType(64), static_type.values[name])

"""The clock of time budgets, read without Python: POSIX `clock_gettime` of the C library that is loaded anyway."""

from __future__ import annotations

import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from azul_fast._jit import inner

NANOSECONDS = 1_000_000_000  # of a second
_LONGEST = 1e9  # seconds; longer budgets are as good as none
_MONOTONIC = time.CLOCK_MONOTONIC
_I32, _I64 = ir.IntType(32), ir.IntType(64)


@intrinsic
def nanoseconds(typing_context):
    """Of a clock that never goes back, as int64."""

    def generate(context, builder, sig, args):
        spec = cgutils.alloca_once(builder, ir.LiteralStructType([_I64, _I64]))  # struct timespec
        kind = ir.FunctionType(_I32, [_I32, spec.type])
        function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(function, [ir.Constant(_I32, _MONOTONIC), spec])
        seconds, rest = (builder.load(cgutils.gep_inbounds(builder, spec, 0, i)) for i in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(_I64, NANOSECONDS)), rest)

    return types.int64(), generate


@inner
def deadline(seconds):
    """When a budget of `seconds` that begins now is used up, in `nanoseconds`; 0 if there is none."""
    if seconds <= 0.0:
        return 0
    return nanoseconds() + int(min(seconds, _LONGEST) * NANOSECONDS)

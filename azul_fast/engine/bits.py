"""Bit counting and picking on 64-bit words, as single instructions where the processor has them."""

from __future__ import annotations

import os

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from azul_fast._jit import inline

_I1, _I64 = ir.IntType(1), ir.IntType(64)
_NO_PDEP = bool(os.environ.get("AZUL_FAST_NO_PDEP"))  # part of the cache key, see _jit.SWITCHES


@intrinsic
def popcount(typingctx, word):
    """Number of set bits of an int64, as int64."""
    return types.int64(types.int64), lambda context, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def trailing_zeros(typingctx, word):
    """Index of the lowest set bit of a non-zero int64, as int64."""
    return types.int64(types.int64), lambda context, builder, sig, args: builder.cttz(args[0], ir.Constant(_I1, 1))


@intrinsic
def shift_right(typingctx, word, count):
    """`word` shifted right by `count`, zeros coming in (Python's ``>>`` brings in the sign)."""
    sig = types.int64(types.int64, types.int64)
    return sig, lambda context, builder, sig, args: builder.lshr(args[0], args[1])


# [bits * 8 + k] -> index of the k-th set bit of an 8-bit number
_SELECT_IN_BYTE = np.array(
    [([i for i in range(8) if byte >> i & 1] + [0] * 8)[k] for byte in range(256) for k in range(8)], np.uint8
)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_M1, _M2, _M4 = (np.uint64(m) for m in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_U1, _U2, _U4, _U7, _U8, _U56, _U255 = (np.uint64(n) for n in (1, 2, 4, 7, 8, 56, 255))


@inline
def nth_set_bit_portable(word, k):
    """As `nth_set_bit`, for processors without pdep: byte sums by multiplication, then a table for one byte.

    Source: S. Vigna, "Broadword implementation of rank/select queries", 2008, algorithm 2.
    """
    x = np.uint64(word)
    s = x - ((x >> _U1) & _M1)
    s = (s & _M2) + ((s >> _U2) & _M2)
    s = ((s + (s >> _U4)) & _M4) * _ONES  # byte b: set bits in bytes 0 to b
    before = ((((np.uint64(k) * _ONES) | _TOPS) - s) & _TOPS) >> _U7  # byte b: 1 if s_b <= k
    shift = ((before * _ONES) >> _U56) * _U8
    rank = np.uint64(k) - (((s << _U8) >> shift) & _U255)
    byte = (x >> shift) & _U255
    return np.int64(shift) + np.int64(_SELECT_IN_BYTE[np.int64(byte * _U8 + rank) & 2047])


@intrinsic
def nth_set_bit(typingctx, word, k):
    """Index of the k-th set bit (k from 0) of an int64 that has more than k of them, as int64."""
    sig = types.int64(types.int64, types.int64)

    def codegen(context, builder, sig, args):
        features = context.codegen().magic_tuple()[2]
        if "+bmi2" not in features.split(",") or _NO_PDEP:
            return context.compile_internal(builder, nth_set_bit_portable.py_func, sig, args)
        word, k = args
        pdep = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=ir.FunctionType(_I64, [_I64, _I64]))
        bit = builder.call(pdep, [builder.shl(ir.Constant(_I64, 1), k), word])
        return builder.cttz(bit, ir.Constant(_I1, 1))

    return sig, codegen

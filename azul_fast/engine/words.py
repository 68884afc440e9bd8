"""Words: what kernels read and write a state through: a bare pointer, or the array itself when bounds are checked.

Numba's arrays are counted references of seven fields that know negative indices; in the middle of a game the counting
and the extra registers cost more than the game. So an entry kernel takes its arrays from Python, which keeps them
alive, and hands `words(array)` down. ``NUMBA_BOUNDSCHECK=1`` makes that the array again, and every access checked.
"""

from __future__ import annotations

from numba import config, types
from numba.extending import intrinsic, overload

CHECKED = bool(config.BOUNDSCHECK)


@intrinsic
def _pointer(typing_context, array):
    def generate(context, builder, sig, args):
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _advance(typing_context, pointer, offset):
    sig = pointer(pointer, types.int64)
    return sig, lambda context, builder, sig, args: builder.gep(args[0], [args[1]])


def words(array):
    """The elements of a one-piece `array`; valid only as long as the caller of the kernel holds the array."""
    return array


def section(all_words, start, length):
    """The `length` elements of `all_words` from `start` on, counted from 0."""
    return all_words[start : start + length]


@overload(words)
def _words(array):
    if isinstance(array, types.Array) and not CHECKED:
        return lambda array: _pointer(array)
    return lambda array: array


@overload(section, inline="never")
def _section(all_words, start, length):
    if isinstance(all_words, types.CPointer):
        return lambda all_words, start, length: _advance(all_words, start)
    return lambda all_words, start, length: all_words[start : start + length]

"""Lanes: a Numba value that holds w unsigned b-bit integers, and what can be computed on it.

One operation acts on all lanes at once, as one instruction where the processor has it (LLVM's vector types). The
arithmetic is C's: every lane keeps its b bits, nothing is promoted to 64. b is 8 or 32, and w is any power of two;
w = 1 is a plain scalar, for code that must compute with 32 bits what others compute with vectors.

On lanes ``x`` and ``y`` of one shape, where either may also be an int, which is cut to b bits and repeated:

- ``+ - *`` wrap around, ``& | ^ ~`` act on bits, ``<<`` and ``>>`` shift zeros in. A shift by b bits or more is
  undefined, as in C: mask the count where it may be that large.
- ``== !=`` and ``< > <= >=`` give a mask of w truth values. The order is that of *signed* numbers, so that
  ``x - y < 0`` asks whether a small y is larger than a small x. Masks know ``& | ^ ~``.
- `where`, `unsigned_min`, `signed_max`, `subtract_saturating`, `fill`, `all_ones`, `mask_bits`.
- `lane` and `widen` go from an int to a 32-bit scalar lane and back.
- `load` and `store` move 32-bit lanes from and to an array of 32-bit integers; `load_bytes` and `store_bytes` move
  8-bit lanes, and `load_word` and `store_word` a whole unaligned word, from and to any byte of an int64 array. They
  do not wrap negative indices, and are checked like any other access under ``NUMBA_BOUNDSCHECK=1``.

All of these are for compiled code only (see `azul_fast._jit` for how that is cached: a kernel's cache is as new as
this file).
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import NumbaTypeError
from numba.core.extending import intrinsic, models, register_model
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

_BIT = ir.IntType(1)
_WORD = ir.IntType(64)


# ------------------------------------------------------------------------------------------------------- the types
def _vector(element: ir.Type, width: int) -> ir.Type:
    return element if width == 1 else ir.VectorType(element, width)


class _Lanes(types.Type):
    def __init__(self, bits: int, width: int):
        self.bits = bits
        self.width = width
        super().__init__(name=f"{type(self).__name__}({bits}x{width})")

    @property
    def shape(self) -> tuple[int, int]:
        return self.bits, self.width


class Lane(_Lanes):
    """Numba type of `width` unsigned integers of `bits` bits."""

    @property
    def llvm(self) -> ir.Type:
        return _vector(ir.IntType(self.bits), self.width)


class Mask(_Lanes):
    """Numba type of `width` truth values about lanes of `bits` bits."""


@register_model(Lane)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager, lane_type):
        super().__init__(manager, lane_type, lane_type.llvm)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, mask_type):
        super().__init__(manager, mask_type, _vector(_BIT, mask_type.width))


# --------------------------------------------------------------------------------------------------- ints as lanes
def _repeat(builder, value, lane_type):
    """The LLVM integer `value`, cut to the lane's bits, in every lane."""
    element = ir.IntType(lane_type.bits)
    if isinstance(value, ir.Constant):
        constant = ir.Constant(element, int(value.constant) & (1 << lane_type.bits) - 1)
        return constant if lane_type.width == 1 else ir.Constant(lane_type.llvm, [constant] * lane_type.width)
    if value.type.width > lane_type.bits:
        value = builder.trunc(value, element)
    elif value.type.width < lane_type.bits:
        value = builder.zext(value, element)
    if lane_type.width == 1:
        return value
    nothing = ir.Constant(lane_type.llvm, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lane_type.width), [0] * lane_type.width)
    return builder.shuffle_vector(first, nothing, zeros)


def _as_lanes(builder, value, value_type, lane_type):
    """`value` itself if it is lanes, else the int that it is, in every lane."""
    if isinstance(value_type, Lane):
        return value
    if isinstance(value_type, types.IntegerLiteral):  # as an LLVM constant, so that shifts by it are immediate
        value = ir.Constant(_WORD, value_type.literal_value)
    return _repeat(builder, value, lane_type)


def _common(arguments) -> Lane | None:
    """The lane type of arguments that are lanes of one shape or ints, at least one of them lanes; else None."""
    lanes = {a.shape: a for a in arguments if isinstance(a, Lane)}
    if len(lanes) == 1 and all(isinstance(a, (Lane, types.Integer)) for a in arguments):
        return next(iter(lanes.values()))
    return None


def _need(condition, name, arguments):
    if not condition:
        raise NumbaTypeError(f"{name} does not take {', '.join(map(str, arguments))}")


# -------------------------------------------------------------------------------------------------------- operators
def _lane_operator(function, emit, result):
    """Give the operator `function` a meaning on lanes: `emit` writes it, `result` is Lane or Mask."""

    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            lane_type = _common(args)
            return signature(result(*lane_type.shape), *args) if lane_type else None

    def lower(context, builder, sig, args):
        lane_type = _common(sig.args)
        return emit(builder, *(_as_lanes(builder, a, t, lane_type) for a, t in zip(args, sig.args, strict=True)))

    for kinds in ((Lane, Lane), (Lane, types.Integer), (types.Integer, Lane)):
        lower_builtin(function, *kinds)(lower)


for _function, _emit in (
    (operator.add, ir.IRBuilder.add),
    (operator.sub, ir.IRBuilder.sub),
    (operator.mul, ir.IRBuilder.mul),
    (operator.and_, ir.IRBuilder.and_),
    (operator.or_, ir.IRBuilder.or_),
    (operator.xor, ir.IRBuilder.xor),
    (operator.lshift, ir.IRBuilder.shl),
    (operator.rshift, ir.IRBuilder.lshr),
):
    _lane_operator(_function, _emit, Lane)


def _comparison(symbol):
    return lambda builder, x, y: builder.icmp_signed(symbol, x, y)


for _function, _symbol in (
    (operator.eq, "=="),
    (operator.ne, "!="),
    (operator.lt, "<"),
    (operator.gt, ">"),
    (operator.le, "<="),
    (operator.ge, ">="),
):
    _lane_operator(_function, _comparison(_symbol), Mask)


def _mask_operator(function, emit):
    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            same = len({a.shape for a in args if isinstance(a, Mask)}) == 1
            return signature(args[0], *args) if same and all(isinstance(a, Mask) for a in args) else None

    lower_builtin(function, Mask, Mask)(lambda context, builder, sig, args: emit(builder, *args))


_mask_operator(operator.and_, ir.IRBuilder.and_)
_mask_operator(operator.or_, ir.IRBuilder.or_)
_mask_operator(operator.xor, ir.IRBuilder.xor)


@infer_global(operator.invert)
class _InvertTemplate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], *args) if isinstance(args[0], _Lanes) else None


@lower_builtin(operator.invert, Lane)
@lower_builtin(operator.invert, Mask)
def _invert(context, builder, sig, args):
    return builder.not_(args[0])


# -------------------------------------------------------------------------------------------------------- functions
def _call_llvm(builder, name, arguments):
    """Call LLVM's intrinsic `name` for the type of its arguments (llvmlite cannot name it for vectors)."""
    llvm_type = arguments[0].type
    vector = isinstance(llvm_type, ir.VectorType)
    suffix = f"v{llvm_type.count}i{llvm_type.element.width}" if vector else f"i{llvm_type.width}"
    function_type = ir.FunctionType(llvm_type, [llvm_type] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.{suffix}")
    return builder.call(function, arguments)


@intrinsic
def where(typing_context, mask, x, y):
    """`x` in the lanes where `mask` is true, `y` elsewhere; either may be an int."""
    _need(isinstance(mask, Mask), "where", (mask, x, y))
    lane_type = Lane(*mask.shape)
    _need(all(v == lane_type or isinstance(v, types.Integer) for v in (x, y)), "where", (mask, x, y))

    def generate(context, builder, sig, args):
        chosen = (_as_lanes(builder, a, t, lane_type) for a, t in zip(args[1:], sig.args[1:], strict=True))
        return builder.select(args[0], *chosen)

    return lane_type(mask, x, y), generate


def _extreme(name, compare, symbol):
    def generate(context, builder, sig, args):
        x, y = (_as_lanes(builder, a, t, sig.return_type) for a, t in zip(args, sig.args, strict=True))
        return builder.select(compare(builder, symbol, x, y), x, y)

    def typed(typing_context, x, y):
        lane_type = _common((x, y))
        _need(lane_type, name, (x, y))
        return lane_type(x, y), generate

    return typed


@intrinsic
def unsigned_min(typing_context, x, y):
    """The smaller of `x` and `y` in each lane, as unsigned numbers."""
    return _extreme("unsigned_min", ir.IRBuilder.icmp_unsigned, "<")(typing_context, x, y)


@intrinsic
def unsigned_max(typing_context, x, y):
    """The larger of `x` and `y` in each lane, as unsigned numbers."""
    return _extreme("unsigned_max", ir.IRBuilder.icmp_unsigned, ">")(typing_context, x, y)


@intrinsic
def signed_max(typing_context, x, y):
    """The larger of `x` and `y` in each lane, as signed numbers."""
    return _extreme("signed_max", ir.IRBuilder.icmp_signed, ">")(typing_context, x, y)


@intrinsic
def subtract_saturating(typing_context, x, y):
    """`x` - `y` in each lane as unsigned numbers, 0 where `y` is larger."""
    lane_type = _common((x, y))
    _need(lane_type, "subtract_saturating", (x, y))

    def generate(context, builder, sig, args):
        both = [_as_lanes(builder, a, t, lane_type) for a, t in zip(args, sig.args, strict=True)]
        return _call_llvm(builder, "usub.sat", both)

    return lane_type(x, y), generate


@intrinsic
def fill(typing_context, like, value):
    """The int `value` in every lane of a value shaped as `like`."""
    _need(isinstance(like, Lane) and isinstance(value, types.Integer), "fill", (like, value))
    return like(like, value), lambda context, builder, sig, args: _as_lanes(builder, args[1], sig.args[1], like)


@intrinsic
def all_ones(typing_context, mask):
    """Lanes with every bit set where `mask` is true, else 0: -1 or 0 as a signed number."""
    _need(isinstance(mask, Mask), "all_ones", (mask,))
    lane_type = Lane(*mask.shape)
    return lane_type(mask), lambda context, builder, sig, args: builder.sext(args[0], lane_type.llvm)


@intrinsic
def mask_bits(typing_context, mask):
    """The mask as an int64: bit i is the truth of lane i. At most 64 lanes."""
    _need(isinstance(mask, Mask) and mask.width <= 64, "mask_bits", (mask,))

    def generate(context, builder, sig, args):
        bits = args[0] if mask.width == 1 else builder.bitcast(args[0], ir.IntType(mask.width))
        return bits if mask.width == 64 else builder.zext(bits, _WORD)

    return types.int64(mask), generate


@intrinsic
def lane(typing_context, value):
    """The low 32 bits of the int `value`, as one lane."""
    _need(isinstance(value, types.Integer), "lane", (value,))
    lane_type = Lane(32, 1)
    return lane_type(value), lambda context, builder, sig, args: _as_lanes(builder, args[0], sig.args[0], lane_type)


@intrinsic
def widen(typing_context, value):
    """The number in a single lane as an int64, zeros in its upper bits."""
    _need(isinstance(value, Lane) and value.width == 1, "widen", (value,))
    return types.int64(value), lambda context, builder, sig, args: builder.zext(args[0], _WORD)


@intrinsic
def lane_numbers(typing_context, like):
    """0, 1, 2, ... in the lanes of a value shaped as `like`."""
    _need(isinstance(like, Lane), "lane_numbers", (like,))

    def generate(context, builder, sig, args):
        if like.width == 1:
            return ir.Constant(like.llvm, 0)
        return ir.Constant(like.llvm, [ir.Constant(ir.IntType(like.bits), i) for i in range(like.width)])

    return like(like), generate


@intrinsic(prefer_literal=True)
def extract(typing_context, x, i):
    """The number in lane `i` (a constant) of `x`, as an int64, zeros in its upper bits."""
    _need(isinstance(x, Lane) and x.width > 1, "extract", (x, i))
    index = ir.Constant(ir.IntType(32), _width("extract", (x, i), i))
    sig = types.int64(x, i)
    return sig, lambda context, builder, sig, args: builder.zext(builder.extract_element(args[0], index), _WORD)


@intrinsic(prefer_literal=True)
def spread(typing_context, value, width):
    """The 1-lane `value` in `width` lanes."""
    _need(isinstance(value, Lane) and value.width == 1, "spread", (value, width))
    result = Lane(value.bits, _width("spread", (value, width), width))
    return result(value, width), lambda context, builder, sig, args: _repeat(builder, args[0], result)


@intrinsic(prefer_literal=True)
def repeat_bytes(typing_context, word, period, like):
    """The lowest `period` bytes of the int64 `word`, over and over in the 8-bit lanes of a value shaped as `like`."""
    _need(isinstance(like, Lane) and like.bits == 8, "repeat_bytes", (word, period, like))
    count = _width("repeat_bytes", (word, period, like), period)

    def generate(context, builder, sig, args):
        eight = ir.VectorType(ir.IntType(8), 8)
        order = ir.Constant(ir.VectorType(ir.IntType(32), like.width), [i % count for i in range(like.width)])
        return builder.shuffle_vector(builder.bitcast(args[0], eight), ir.Constant(eight, ir.Undefined), order)

    return like(types.int64, period, like), generate


@intrinsic(prefer_literal=True)
def keep_of_each(typing_context, x, period, kept, groups, width):
    """The first `kept` lanes of each of the first `groups` periods of `x`, side by side; zeros up to `width`."""
    arguments = (x, period, kept, groups, width)
    _need(isinstance(x, Lane) and x.width > 1, "keep_of_each", arguments)
    p, k, g, w = (_width("keep_of_each", arguments, number) for number in (period, kept, groups, width))
    result = Lane(x.bits, w)

    def generate(context, builder, sig, args):
        order = [period_start + i for period_start in range(0, p * g, p) for i in range(k)]
        order += [x.width] * (w - len(order))  # lane 0 of the zeros
        order = ir.Constant(ir.VectorType(ir.IntType(32), w), order)
        return builder.shuffle_vector(args[0], ir.Constant(x.llvm, None), order)

    return result(*arguments), generate


@intrinsic
def largest(typing_context, x):
    """The largest of the lanes of `x`, as unsigned numbers: an int64."""
    _need(isinstance(x, Lane) and x.width > 1, "largest", (x,))

    def generate(context, builder, sig, args):
        function_type = ir.FunctionType(ir.IntType(x.bits), [x.llvm])
        name = f"llvm.vector.reduce.umax.v{x.width}i{x.bits}"
        found = builder.call(builder.module.declare_intrinsic(name, fnty=function_type), [args[0]])
        # frozen, since LLVM knows the one instruction that does this only where a scalar comes out
        return builder.zext(freeze(builder, found), _WORD)

    return types.int64(x), generate


# ----------------------------------------------------------------------------------------------------------- memory
def freeze(builder, value):
    """Hide from LLVM that `value` was loaded.

    LLVM would turn ``store(where(mask, new, load))`` to one address into a masked store, and those are microcoded,
    ten times slower, on AMD processors. Freeze is a no-op otherwise. (llvmlite's builder has no method for it.)
    """
    instruction = ir.instructions.Instruction(builder.block, value.type, "freeze", [value])
    builder._insert(instruction)
    return instruction


def address(context, builder, array_type, array, index, length, llvm_type, item_bytes):
    """Pointer to what begins `index` units of `item_bytes` bytes into `array` and is `length` such units long.

    Under ``NUMBA_BOUNDSCHECK=1`` it raises IndexError unless all of it lies within the array: a raw pointer would
    otherwise hide from that check what Numba's own indexing shows.
    """
    unit = ir.IntType(8 * item_bytes).as_pointer()
    if isinstance(array_type, types.CPointer):  # see `azul_fast.engine.words`
        pointer = builder.gep(builder.bitcast(array, unit), [index])
        return builder.bitcast(pointer, llvm_type.as_pointer())
    view = context.make_array(array_type)(context, builder, array)
    if context.enable_boundscheck:
        size = builder.mul(view.nitems, view.itemsize)
        units = builder.sdiv(size, ir.Constant(size.type, item_bytes))
        cgutils.do_boundscheck(context, builder, index, units)
        cgutils.do_boundscheck(context, builder, builder.add(index, ir.Constant(index.type, length - 1)), units)
    pointer = builder.gep(builder.bitcast(view.data, unit), [index])
    return builder.bitcast(pointer, llvm_type.as_pointer())


def _array_of(array, bits) -> bool:
    """Whether `array` is a type of contiguous arrays of, or pointers to, integers of `bits` bits."""
    return (
        isinstance(array, (types.Array, types.CPointer))
        and isinstance(array.dtype, types.Integer)
        and array.dtype.bitwidth == bits
        and (isinstance(array, types.CPointer) or array.is_contig)
    )


def _loader(name, array, offset, result, array_bits, item_bytes, length):
    """What an intrinsic returns that loads `result` (a Lane or int64) from `array` at `offset`."""
    _need(_array_of(array, array_bits) and isinstance(offset, types.Integer), name, (array, offset))

    def generate(context, builder, sig, args):
        llvm_type = context.get_value_type(result)
        pointer = address(context, builder, sig.args[0], args[0], args[1], length, llvm_type, item_bytes)
        value = builder.load(pointer)
        value.align = item_bytes
        return freeze(builder, value) if isinstance(result, Lane) else value

    return generate


def _storer(name, array, offset, value, array_bits, item_bytes, length):
    _need(_array_of(array, array_bits) and isinstance(offset, types.Integer), name, (array, offset, value))
    _need(isinstance(array, types.CPointer) or array.mutable, name, (array, offset, value))

    def generate(context, builder, sig, args):
        pointer = address(context, builder, sig.args[0], args[0], args[1], length, args[2].type, item_bytes)
        builder.store(args[2], pointer).align = item_bytes
        return context.get_dummy_value()

    return generate


def _width(name, arguments, width) -> int:
    _need(isinstance(width, types.IntegerLiteral), f"{name}, whose width must be a constant,", arguments)
    return width.literal_value


@intrinsic(prefer_literal=True)
def load(typing_context, array, index, width):
    """The `width` 32-bit lanes that begin at element `index` of a one-piece array of 32-bit integers."""
    result = Lane(32, _width("load", (array, index, width), width))
    generate = _loader("load", array, index, result, 32, 4, result.width)
    return result(array, types.int64, width), generate


@intrinsic
def store(typing_context, array, index, lanes):
    """Write 32-bit lanes over the elements of `array` that begin at `index`."""
    _need(isinstance(lanes, Lane) and lanes.bits == 32, "store", (array, index, lanes))
    return types.void(array, types.int64, lanes), _storer("store", array, index, lanes, 32, 4, lanes.width)


@intrinsic(prefer_literal=True)
def load_bytes(typing_context, array, offset, width):
    """The `width` 8-bit lanes that begin at byte `offset` of an int64 array."""
    result = Lane(8, _width("load_bytes", (array, offset, width), width))
    generate = _loader("load_bytes", array, offset, result, 64, 1, result.width)
    return result(array, types.int64, width), generate


@intrinsic
def store_bytes(typing_context, array, offset, lanes):
    """Write 8-bit lanes over the bytes of an int64 array that begin at `offset`."""
    _need(isinstance(lanes, Lane) and lanes.bits == 8, "store_bytes", (array, offset, lanes))
    return types.void(array, types.int64, lanes), _storer("store_bytes", array, offset, lanes, 64, 1, lanes.width)


@intrinsic
def load_word(typing_context, array, offset):
    """The 8 bytes that begin at byte `offset` of an int64 array, as an int64 (little-endian)."""
    generate = _loader("load_word", array, offset, types.int64, 64, 1, 8)
    return types.int64(array, types.int64), generate


@intrinsic
def store_word(typing_context, array, offset, word):
    """Write the int64 `word` over the 8 bytes of an int64 array that begin at byte `offset`."""
    _need(isinstance(word, types.Integer), "store_word", (array, offset, word))
    return types.void(array, types.int64, types.int64), _storer("store_word", array, offset, word, 64, 1, 8)

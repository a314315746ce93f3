"""Vector operations on rows of bits: a few functions on runs of words or bytes.

The level loop of ``build`` spends most of its time here. Left to itself, the compiler first unrolls
such short loops and then cannot prove that source and target do not overlap, so the loops run word by
word. These functions are therefore written as vector instructions, in the compiler's portable
intermediate language: 32 bytes per vector, for which it selects the instructions of the machine.
docs/design.md says how much faster that is.

Bit maps are *packed*: arrays of bytes, where a row of 24 bits takes three. What shuffles bits works on
rows that are *spread*, one to a word of 32 bits; ``spread_rows`` and ``pack_rows`` lead from one form to
the other, four rows at a time. They read, and ``pack_rows`` writes, up to ``SPARE`` elements beyond the
last row, so that arrays must have that many more.

A map of ``bitboards`` consists of sets of cells, packed as well, of four to eight bytes each. They are read as words of
64 bits, and what arrives is collected in such words. Vectors of sets touch up to ``SPARE`` bytes behind them, too.

``lanes``, the number of elements, must be a constant in the calling kernel. No function checks bounds:
the caller guarantees them. With the JIT disabled, each function is a few lines of numpy.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BYTE = ir.IntType(8)
WORD = ir.IntType(32)
COUNT = ir.IntType(64)
VECTOR = 32  # bytes per vector
LINE = 64  # bytes per cache line
ROWS = 4  # rows that are spread or packed at a time
SPARE = 16  # elements behind an array, which may be touched together with its last ones
WORD_BYTES = 4
SET_BYTES = 8  # of a set of cells as a word


# ---- the operations, defined in numpy -----------------------------------------------------------


def _plain_or_rows(target, target_at, source, source_at, lanes):
    """``target |= source`` for ``lanes`` elements, from the given offsets on."""
    target[target_at : target_at + lanes] |= source[source_at : source_at + lanes]


def _plain_or_gathered(target, target_at, source, source_at, places, places_at, lanes):
    """``target |= source`` with the words shuffled: word i comes from ``source_at + places[places_at + i]``."""
    target[target_at : target_at + lanes] |= source[source_at + places[places_at : places_at + lanes].astype(np.int64)]


def _plain_or_rotated(target, target_at, source, source_at, masks, rotations, first, last, lanes):
    """``target |= source`` with the bits of every word shuffled.

    The shuffle is the union of the terms ``first`` ... ``last - 1``: the bits that ``masks[term]`` selects,
    rotated left by ``rotations[term]``.
    """
    words = source[source_at : source_at + lanes]
    for term in range(first, last):
        selected = (words & masks[term]).astype(np.uint64) << np.uint64(rotations[term])
        target[target_at : target_at + lanes] |= (selected | selected >> np.uint64(32)).astype(np.uint32)


def _plain_words(packed, at, width, lanes):
    """``lanes`` words of ``width`` bytes each."""
    words = np.zeros((lanes, SET_BYTES), dtype=np.uint8)
    words[:, :width] = packed[at : at + lanes * width].reshape(lanes, width)
    return words.view(np.int64).ravel()


def _plain_or_masked(target, source, source_at, mask, width, lanes):
    """``target |= source & mask`` for sets of cells, which have ``width`` bytes in the source."""
    target[:lanes] |= _plain_words(source, source_at, width, lanes) & mask


def _plain_or_chosen(target, source, source_at, places, places_at, mask, width, lanes):
    """The same with the sets in another order: set i is the one of number ``places[places_at + i]``.

    What stands behind a set in the source is taken along with it, as far as the mask has it.
    """
    target[:lanes] |= _plain_words(source, source_at, width, lanes)[places[places_at : places_at + lanes]] & mask


def _plain_or_shifted(target, source, source_at, left, right, mask, width, lanes):
    """The same with each set shifted ``left``, then ``right``."""
    words = _plain_words(source, source_at, width, lanes).view(np.uint64) << np.uint64(left) >> np.uint64(right)
    target[:lanes] |= words.view(np.int64) & mask


def _plain_add_masked(arrived, mask, target, other, at, width, lanes):
    """``target |= arrived & mask & ~other``, both with sets of ``width`` bytes. Returns what is new to both maps."""
    before, others = (_plain_words(sets, at, width, lanes) for sets in (target, other))
    added = arrived[:lanes] & mask & ~(before | others)
    after = (before | added).view(np.uint8).reshape(lanes, SET_BYTES)
    target[at : at + lanes * width] = after[:, :width].ravel()
    return int(np.bitwise_count(added.view(np.uint64)).sum())


def _plain_column(source, at, cell, width, lanes):
    """Whether a cell is in each of some sets of ``width`` bytes: set i tells bit i."""
    words = _plain_words(source, at, width, lanes).tolist()
    return sum((word >> int(cell) & 1) << lane for lane, word in enumerate(words))


def _plain_spread_rows(words, packed, packed_at, width, lanes):
    """``words[i]`` becomes row i of ``width`` bytes, for ``lanes`` rows."""
    rows = packed[packed_at : packed_at + lanes * width].reshape(lanes, width).astype(np.uint32)
    words[:lanes] = (rows << np.arange(0, 8 * width, 8, dtype=np.uint32)).sum(axis=1)


def _plain_pack_rows(packed, words, width, lanes):
    """The inverse: row i of ``width`` bytes becomes ``words[i]``, for ``lanes`` rows."""
    packed[: lanes * width] = words[:lanes].view(np.uint8).reshape(lanes, WORD_BYTES)[:, :width].ravel()


def _plain_prefetch_rows(source, source_at, lanes):
    """Ask for the cache lines of bytes that will soon be read."""


def _plain_mark_new(arrived, arrived_at, visited, new, at, lanes):
    """``new = arrived & ~visited; visited |= new``. Returns the number of new bits."""
    before = visited[at : at + lanes]
    added = arrived[arrived_at : arrived_at + lanes] & ~before
    new[at : at + lanes] = added
    before |= added
    return int(np.bitwise_count(added).sum())


def _plain_add_new(arrived, arrived_at, target, other, at, lanes):
    """``target |= arrived & ~other``. Returns the number of bits that are new to both maps."""
    before = target[at : at + lanes]
    added = arrived[arrived_at : arrived_at + lanes] & ~(before | other[at : at + lanes])
    before |= added
    return int(np.bitwise_count(added).sum())


# ---- the same as vector instructions ------------------------------------------------------------


def _vectors(lanes: int, element: ir.IntType) -> list[tuple[int, ir.VectorType]]:
    """A run of elements cut into vectors: (offset, type). What does not fill a vector is cut into powers of two."""
    cuts = []
    width, offset = 8 * VECTOR // element.width, 0
    while offset < lanes:
        while width > lanes - offset:
            width //= 2
        cuts.append((offset, ir.VectorType(element, width)))
        offset += width
    return cuts


class _Run:
    """The elements from a given one of an array argument on."""

    def __init__(self, context, builder, array_type, array, at):
        self.builder = builder
        self.element = ir.IntType(array_type.dtype.bitwidth)
        self.start = builder.gep(context.make_array(array_type)(context, builder, array).data, [at])

    def pointer(self, offset, vector: ir.VectorType):
        offset = ir.Constant(COUNT, offset) if isinstance(offset, int) else offset
        return self.builder.bitcast(self.builder.gep(self.start, [offset]), vector.as_pointer())

    def load(self, offset, vector: ir.VectorType):
        return self.builder.load(self.pointer(offset, vector), align=self.element.width // 8)

    def store(self, value, offset):
        self.builder.store(value, self.pointer(offset, value.type), align=self.element.width // 8)


def _call(builder, name: str, result, *args):
    """A call of a vector intrinsic of the compiler, whose name ends in the type of its first argument."""
    signature = ir.FunctionType(result, [arg.type for arg in args])
    name = f"llvm.{name}.v{args[0].type.count}i{args[0].type.element.width}"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def _splat(builder, word, vector: ir.VectorType):
    """A vector with the same word in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(WORD, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(WORD, vector.count), [0] * vector.count))


@intrinsic(prefer_literal=True)
def _or_rows(typing_context, target, target_at, source, source_at, lanes):
    def generate(context, builder, signature, args):
        target_run = _Run(context, builder, target, args[0], args[1])
        source_run = _Run(context, builder, source, args[2], args[3])
        for offset, vector in _vectors(lanes.literal_value, target_run.element):
            union = builder.or_(target_run.load(offset, vector), source_run.load(offset, vector))
            target_run.store(union, offset)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _or_gathered(typing_context, target, target_at, source, source_at, places, places_at, lanes):
    def generate(context, builder, signature, args):
        target_run = _Run(context, builder, target, args[0], args[1])
        source_run = _Run(context, builder, source, args[2], args[3])
        place_run = _Run(context, builder, places, args[4], args[5])
        for offset, vector in _vectors(lanes.literal_value, target_run.element):
            words = ir.Constant(vector, ir.Undefined)
            for lane in range(vector.count):
                place = builder.load(builder.gep(place_run.start, [ir.Constant(COUNT, offset + lane)]))
                word = builder.load(builder.gep(source_run.start, [builder.zext(place, COUNT)]))
                words = builder.insert_element(words, word, ir.Constant(WORD, lane))
            target_run.store(builder.or_(target_run.load(offset, vector), words), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, places, types.int64, lanes)
    return types.void(*arguments), generate


@intrinsic(prefer_literal=True)
def _or_rotated(typing_context, target, target_at, source, source_at, masks, rotations, first, last, lanes):
    def generate(context, builder, signature, args):
        target_run = _Run(context, builder, target, args[0], args[1])
        source_run = _Run(context, builder, source, args[2], args[3])
        vectors = _vectors(lanes.literal_value, target_run.element)
        words = [source_run.load(offset, vector) for offset, vector in vectors]
        results = [cgutils.alloca_once_value(builder, target_run.load(offset, vector)) for offset, vector in vectors]
        with cgutils.for_range(builder, builder.sub(args[7], args[6])) as loop:
            term = builder.add(loop.index, args[6])
            mask = builder.load(_Run(context, builder, masks, args[4], term).start)
            rotation = builder.load(_Run(context, builder, rotations, args[5], term).start)
            for word, result in zip(words, results, strict=True):
                selected = builder.and_(word, _splat(builder, mask, word.type))
                rotated = _call(builder, "fshl", word.type, selected, selected, _splat(builder, rotation, word.type))
                builder.store(builder.or_(builder.load(result), rotated), result)
        for (offset, _), result in zip(vectors, results, strict=True):
            target_run.store(builder.load(result), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, masks, rotations, types.int64, types.int64, lanes)
    return types.void(*arguments), generate


class _Sets(_Run):
    """Sets of cells from a given byte of an array on, of ``width`` bytes each, as words of 64 bits."""

    def __init__(self, context, builder, array_type, array, at, width):
        super().__init__(context, builder, array_type, array, at)
        self.width = width.literal_value

    def load(self, offset: int, vector: ir.VectorType):
        places = range(SET_BYTES * vector.count)
        kept = [at // SET_BYTES * self.width + at % SET_BYTES if at % SET_BYTES < self.width else None for at in places]
        group = super().load(self.width * offset, ir.VectorType(BYTE, len(places)))
        return self.builder.bitcast(_shuffled(self.builder, group, kept), vector)

    def load_one(self, number):
        """A single set, with what stands behind it in its word."""
        at = self.builder.mul(number, ir.Constant(COUNT, self.width))
        word = self.builder.bitcast(self.builder.gep(self.start, [at]), COUNT.as_pointer())
        return self.builder.load(word, align=1)

    def store(self, value, offset: int):
        count = value.type.count
        kept = [at // self.width * SET_BYTES + at % self.width for at in range(self.width * count)]
        group = self.builder.bitcast(value, ir.VectorType(BYTE, SET_BYTES * count))
        super().store(_shuffled(self.builder, group, kept), self.width * offset)


def _or_sets(context, builder, target, source, mask, lanes, sets_at):
    """Unite ``lanes`` words of the target with what ``sets_at`` makes of the source, as far as the mask has it."""
    target_run = _Run(context, builder, *target, context.get_constant(types.int64, 0))
    source_sets = _Sets(context, builder, *source)
    for offset, vector in _vectors(lanes.literal_value, COUNT):
        sets = builder.and_(sets_at(source_sets, offset, vector), _splat(builder, mask, vector))
        target_run.store(builder.or_(target_run.load(offset, vector), sets), offset)
    return context.get_dummy_value()


@intrinsic(prefer_literal=True)
def _or_masked(typing_context, target, source, source_at, mask, width, lanes):
    def generate(context, builder, signature, args):
        where = (target, args[0]), (source, args[1], args[2], width)
        return _or_sets(context, builder, *where, args[3], lanes, _Sets.load)

    return types.void(target, source, types.int64, types.int64, width, lanes), generate


@intrinsic(prefer_literal=True)
def _or_chosen(typing_context, target, source, source_at, places, places_at, mask, width, lanes):
    def generate(context, builder, signature, args):
        place_run = _Run(context, builder, places, args[3], args[4])

        def sets_at(source_sets, offset, vector):
            sets = ir.Constant(vector, ir.Undefined)
            for lane in range(vector.count):
                place = builder.load(builder.gep(place_run.start, [ir.Constant(COUNT, offset + lane)]))
                chosen = source_sets.load_one(builder.zext(place, COUNT))
                sets = builder.insert_element(sets, chosen, ir.Constant(WORD, lane))
            return sets

        where = (target, args[0]), (source, args[1], args[2], width)
        return _or_sets(context, builder, *where, args[5], lanes, sets_at)

    return types.void(target, source, types.int64, places, types.int64, types.int64, width, lanes), generate


@intrinsic(prefer_literal=True)
def _or_shifted(typing_context, target, source, source_at, left, right, mask, width, lanes):
    def generate(context, builder, signature, args):
        def sets_at(source_sets, offset, vector):
            by_left, by_right = (_splat(builder, args[place], vector) for place in (3, 4))
            return builder.lshr(builder.shl(source_sets.load(offset, vector), by_left), by_right)

        where = (target, args[0]), (source, args[1], args[2], width)
        return _or_sets(context, builder, *where, args[5], lanes, sets_at)

    word = types.int64
    return types.void(target, source, types.int64, word, word, word, width, lanes), generate


@intrinsic(prefer_literal=True)
def _add_masked(typing_context, arrived, mask, target, other, at, width, lanes):
    def generate(context, builder, signature, args):
        arrived_run = _Run(context, builder, arrived, args[0], context.get_constant(types.int64, 0))
        target_sets = _Sets(context, builder, target, args[2], args[4], width)
        other_sets = _Sets(context, builder, other, args[3], args[4], width)
        parts = []
        for offset, vector in _vectors(lanes.literal_value, COUNT):
            before = target_sets.load(offset, vector)
            visited = builder.or_(before, other_sets.load(offset, vector))
            added = builder.and_(arrived_run.load(offset, vector), _splat(builder, args[1], vector))
            added = builder.and_(added, builder.not_(visited))
            target_sets.store(builder.or_(before, added), offset)
            parts.append(added)
        return _count_bits(builder, parts)

    return types.int64(arrived, types.int64, target, other, types.int64, width, lanes), generate


@intrinsic(prefer_literal=True)
def _column(typing_context, source, at, cell, width, lanes):
    def generate(context, builder, signature, args):
        sets = _Sets(context, builder, source, args[0], args[1], width)
        column = ir.Constant(COUNT, 0)
        for offset, vector in _vectors(lanes.literal_value, COUNT):
            moved = builder.lshr(sets.load(offset, vector), _splat(builder, args[2], vector))
            bits = builder.trunc(moved, ir.VectorType(ir.IntType(1), vector.count))
            bits = builder.bitcast(bits, ir.IntType(vector.count))
            column = builder.or_(column, builder.shl(builder.zext(bits, COUNT), ir.Constant(COUNT, offset)))
        return column

    return types.int64(source, types.int64, types.int64, width, lanes), generate


def _for_each_group(context, builder, lanes: int):
    """A loop over groups of ``ROWS`` rows, the last one filled up."""
    return cgutils.for_range(builder, context.get_constant(types.int64, -(-lanes // ROWS)))


def _shuffled(builder, group, places: list[int | None]):
    """The bytes of a group at these places, 0 where there is none."""
    zeros = ir.Constant(group.type, [0] * group.type.count)
    chosen = [group.type.count if place is None else place for place in places]
    return builder.shuffle_vector(group, zeros, ir.Constant(ir.VectorType(WORD, len(chosen)), chosen))


@intrinsic(prefer_literal=True)
def _spread_rows(typing_context, words, packed, packed_at, width, lanes):
    def generate(context, builder, signature, args):
        zero, row = context.get_constant(types.int64, 0), width.literal_value
        word_run = _Run(context, builder, words, args[0], zero)
        packed_run = _Run(context, builder, packed, args[1], args[2])
        four_words = ir.VectorType(WORD, ROWS)
        places = [row * (at // 4) + at % 4 if at % 4 < row else None for at in range(4 * ROWS)]
        with _for_each_group(context, builder, lanes.literal_value) as loop:
            start = builder.mul(loop.index, ir.Constant(COUNT, ROWS * row))
            group = packed_run.load(start, ir.VectorType(BYTE, 4 * ROWS))
            spread = builder.bitcast(_shuffled(builder, group, places), four_words)
            word_run.store(spread, builder.mul(loop.index, ir.Constant(COUNT, ROWS)))
        return context.get_dummy_value()

    return types.void(words, packed, types.int64, width, lanes), generate


@intrinsic(prefer_literal=True)
def _pack_rows(typing_context, packed, words, width, lanes):
    def generate(context, builder, signature, args):
        zero, row = context.get_constant(types.int64, 0), width.literal_value
        packed_run = _Run(context, builder, packed, args[0], zero)
        word_run = _Run(context, builder, words, args[1], zero)
        bytes_of_four = ir.VectorType(BYTE, 4 * ROWS)
        places = [4 * (at // row) + at % row if at < ROWS * row else None for at in range(4 * ROWS)]
        with _for_each_group(context, builder, lanes.literal_value) as loop:
            group = word_run.load(builder.mul(loop.index, ir.Constant(COUNT, ROWS)), ir.VectorType(WORD, ROWS))
            together = _shuffled(builder, builder.bitcast(group, bytes_of_four), places)
            packed_run.store(together, builder.mul(loop.index, ir.Constant(COUNT, ROWS * row)))
        return context.get_dummy_value()

    return types.void(packed, words, width, lanes), generate


@intrinsic(prefer_literal=True)
def _prefetch_rows(typing_context, source, source_at, lanes):
    def generate(context, builder, signature, args):
        source_run = _Run(context, builder, source, args[0], args[1])
        signature = ir.FunctionType(ir.VoidType(), [source_run.start.type, WORD, WORD, WORD])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        how = [ir.Constant(WORD, value) for value in (0, 3, 1)]  # for reading, high locality, data cache
        for byte in range(0, lanes.literal_value, LINE):
            builder.call(function, [builder.gep(source_run.start, [ir.Constant(COUNT, byte)]), *how])
        return context.get_dummy_value()

    return types.void(source, types.int64, lanes), generate


def _count_bits(builder, parts: list) -> ir.Value:
    """The number of bits set in some vectors. Those of the same size are added up lane by lane first."""
    sums: dict[int, ir.Value] = {}
    for part in parts:
        bits = part.type.count * part.type.element.width
        lane = ir.IntType(min(64, bits))
        shape = ir.VectorType(lane, bits // lane.width)
        counts = _call(builder, "ctpop", shape, builder.bitcast(part, shape))
        sums[bits] = builder.add(sums[bits], counts) if bits in sums else counts
    total = ir.Constant(COUNT, 0)
    for counts in sums.values():
        one = _call(builder, "vector.reduce.add", counts.type.element, counts)
        total = builder.add(total, one if one.type == COUNT else builder.zext(one, COUNT))
    return total


@intrinsic(prefer_literal=True)
def _mark_new(typing_context, arrived, arrived_at, visited, new, at, lanes):
    def generate(context, builder, signature, args):
        arrived_run = _Run(context, builder, arrived, args[0], args[1])
        visited_run = _Run(context, builder, visited, args[2], args[4])
        new_run = _Run(context, builder, new, args[3], args[4])
        parts = []
        for offset, vector in _vectors(lanes.literal_value, BYTE):
            before = visited_run.load(offset, vector)
            added = builder.and_(arrived_run.load(offset, vector), builder.not_(before))
            new_run.store(added, offset)
            visited_run.store(builder.or_(before, added), offset)
            parts.append(added)
        return _count_bits(builder, parts)

    return types.int64(arrived, types.int64, visited, new, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _add_new(typing_context, arrived, arrived_at, target, other, at, lanes):
    def generate(context, builder, signature, args):
        arrived_run = _Run(context, builder, arrived, args[0], args[1])
        target_run = _Run(context, builder, target, args[2], args[4])
        other_run = _Run(context, builder, other, args[3], args[4])
        parts = []
        for offset, vector in _vectors(lanes.literal_value, BYTE):
            before = target_run.load(offset, vector)
            visited = builder.or_(before, other_run.load(offset, vector))
            added = builder.and_(arrived_run.load(offset, vector), builder.not_(visited))
            target_run.store(builder.or_(before, added), offset)
            parts.append(added)
        return _count_bits(builder, parts)

    return types.int64(arrived, types.int64, target, other, types.int64, lanes), generate


if numba.config.DISABLE_JIT:
    or_rows, or_gathered, or_rotated = _plain_or_rows, _plain_or_gathered, _plain_or_rotated
    spread_rows, pack_rows, prefetch_rows = _plain_spread_rows, _plain_pack_rows, _plain_prefetch_rows
    mark_new, add_new = _plain_mark_new, _plain_add_new
    or_masked, or_chosen, or_shifted = _plain_or_masked, _plain_or_chosen, _plain_or_shifted
    add_masked, column = _plain_add_masked, _plain_column
else:
    or_rows, or_gathered, or_rotated = _or_rows, _or_gathered, _or_rotated
    spread_rows, pack_rows, prefetch_rows = _spread_rows, _pack_rows, _prefetch_rows
    mark_new, add_new = _mark_new, _add_new
    or_masked, or_chosen, or_shifted = _or_masked, _or_chosen, _or_shifted
    add_masked, column = _add_masked, _column

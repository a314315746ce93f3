"""Vector operations on rows of bits: five functions on runs of uint32 words.

The level loop of ``build`` spends most of its time here. Left to itself, the compiler first unrolls
such short loops and then cannot prove that source and target do not overlap, so the loops run word by
word. These functions are therefore written as vector instructions, in the compiler's portable
intermediate language: eight words per vector, for which it selects the instructions of the machine.
docs/design.md says how much faster that is.

``lanes``, the number of words, must be a constant in the calling kernel. No function checks bounds:
the caller guarantees them. With the JIT disabled, each function is a few lines of numpy.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WORD = ir.IntType(32)
COUNT = ir.IntType(64)
VECTOR = 8  # words per vector
LINE = 16  # words per cache line


# ---- the operations, defined in numpy -----------------------------------------------------------


def _plain_or_rows(target, target_at, source, source_at, lanes):
    """``target |= source`` for ``lanes`` words, from the given offsets on."""
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


def _plain_prefetch_rows(source, source_at, lanes):
    """Ask for the cache lines of words that will soon be read."""


def _plain_mark_new(arrived, arrived_at, visited, new, at, lanes):
    """``new = arrived & ~visited; visited |= new``. Returns the number of new bits."""
    before = visited[at : at + lanes]
    added = arrived[arrived_at : arrived_at + lanes] & ~before
    new[at : at + lanes] = added
    before |= added
    return int(np.bitwise_count(added).sum())


# ---- the same as vector instructions ------------------------------------------------------------


def _vectors(lanes: int) -> list[tuple[int, ir.VectorType]]:
    """A run of words cut into vectors: (offset, type)."""
    widths = [VECTOR] * (lanes // VECTOR) + ([lanes % VECTOR] if lanes % VECTOR else [])
    return [(VECTOR * number, ir.VectorType(WORD, width)) for number, width in enumerate(widths)]


class _Words:
    """The run of words that begins at a given element of an array argument."""

    def __init__(self, context, builder, array_type, array, at):
        self.builder = builder
        self.start = builder.gep(context.make_array(array_type)(context, builder, array).data, [at])

    def pointer(self, offset: int, vector: ir.VectorType):
        address = self.builder.gep(self.start, [ir.Constant(COUNT, offset)])
        return self.builder.bitcast(address, vector.as_pointer())

    def load(self, offset: int, vector: ir.VectorType):
        return self.builder.load(self.pointer(offset, vector), align=4)

    def store(self, value, offset: int):
        self.builder.store(value, self.pointer(offset, value.type), align=4)


def _call(builder, name: str, result, *args):
    """A call of a vector intrinsic of the compiler, whose name ends in the type of its first argument."""
    signature = ir.FunctionType(result, [arg.type for arg in args])
    name = f"llvm.{name}.v{args[0].type.count}i32"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def _splat(builder, word, vector: ir.VectorType):
    """A vector with the same word in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(WORD, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(vector, [0] * vector.count))


@intrinsic(prefer_literal=True)
def _or_rows(typing_context, target, target_at, source, source_at, lanes):
    def generate(context, builder, signature, args):
        target_words = _Words(context, builder, target, args[0], args[1])
        source_words = _Words(context, builder, source, args[2], args[3])
        for offset, vector in _vectors(lanes.literal_value):
            union = builder.or_(target_words.load(offset, vector), source_words.load(offset, vector))
            target_words.store(union, offset)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _or_gathered(typing_context, target, target_at, source, source_at, places, places_at, lanes):
    def generate(context, builder, signature, args):
        target_words = _Words(context, builder, target, args[0], args[1])
        source_words = _Words(context, builder, source, args[2], args[3])
        place_words = _Words(context, builder, places, args[4], args[5])
        for offset, vector in _vectors(lanes.literal_value):
            words = ir.Constant(vector, ir.Undefined)
            for lane in range(vector.count):
                place = builder.load(builder.gep(place_words.start, [ir.Constant(COUNT, offset + lane)]))
                word = builder.load(builder.gep(source_words.start, [builder.zext(place, COUNT)]))
                words = builder.insert_element(words, word, ir.Constant(WORD, lane))
            target_words.store(builder.or_(target_words.load(offset, vector), words), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, places, types.int64, lanes)
    return types.void(*arguments), generate


@intrinsic(prefer_literal=True)
def _or_rotated(typing_context, target, target_at, source, source_at, masks, rotations, first, last, lanes):
    def generate(context, builder, signature, args):
        target_words = _Words(context, builder, target, args[0], args[1])
        source_words = _Words(context, builder, source, args[2], args[3])
        vectors = _vectors(lanes.literal_value)
        words = [source_words.load(offset, vector) for offset, vector in vectors]
        results = [cgutils.alloca_once_value(builder, target_words.load(offset, vector)) for offset, vector in vectors]
        with cgutils.for_range(builder, builder.sub(args[7], args[6])) as loop:
            term = builder.add(loop.index, args[6])
            mask = builder.load(_Words(context, builder, masks, args[4], term).start)
            rotation = builder.load(_Words(context, builder, rotations, args[5], term).start)
            for word, result in zip(words, results, strict=True):
                selected = builder.and_(word, _splat(builder, mask, word.type))
                rotated = _call(builder, "fshl", word.type, selected, selected, _splat(builder, rotation, word.type))
                builder.store(builder.or_(builder.load(result), rotated), result)
        for (offset, _), result in zip(vectors, results, strict=True):
            target_words.store(builder.load(result), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, masks, rotations, types.int64, types.int64, lanes)
    return types.void(*arguments), generate


@intrinsic(prefer_literal=True)
def _prefetch_rows(typing_context, source, source_at, lanes):
    def generate(context, builder, signature, args):
        source_words = _Words(context, builder, source, args[0], args[1])
        signature = ir.FunctionType(ir.VoidType(), [source_words.start.type, WORD, WORD, WORD])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        how = [ir.Constant(WORD, value) for value in (0, 3, 1)]  # for reading, high locality, data cache
        for word in range(0, lanes.literal_value, LINE):
            builder.call(function, [builder.gep(source_words.start, [ir.Constant(COUNT, word)]), *how])
        return context.get_dummy_value()

    return types.void(source, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _mark_new(typing_context, arrived, arrived_at, visited, new, at, lanes):
    def generate(context, builder, signature, args):
        arrived_words = _Words(context, builder, arrived, args[0], args[1])
        visited_words = _Words(context, builder, visited, args[2], args[4])
        new_words = _Words(context, builder, new, args[3], args[4])
        total = ir.Constant(COUNT, 0)
        for offset, vector in _vectors(lanes.literal_value):
            before = visited_words.load(offset, vector)
            added = builder.and_(arrived_words.load(offset, vector), builder.not_(before))
            new_words.store(added, offset)
            visited_words.store(builder.or_(before, added), offset)
            count = _call(builder, "vector.reduce.add", WORD, _call(builder, "ctpop", vector, added))
            total = builder.add(total, builder.zext(count, COUNT))
        return total

    return types.int64(arrived, types.int64, visited, new, types.int64, lanes), generate


if numba.config.DISABLE_JIT:
    or_rows, or_gathered, or_rotated = _plain_or_rows, _plain_or_gathered, _plain_or_rotated
    prefetch_rows, mark_new = _plain_prefetch_rows, _plain_mark_new
else:
    or_rows, or_gathered, or_rotated = _or_rows, _or_gathered, _or_rotated
    prefetch_rows, mark_new = _prefetch_rows, _mark_new

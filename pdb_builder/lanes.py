"""Rows of bits, many at a time: five operations on runs of uint32 words.

The level loop of ``build`` does nothing else for most of its time. Left to itself the compiler
first unrolls such short loops and then cannot prove that source and target do not overlap, so
they end up word by word. These functions are therefore written as vector instructions outright,
in the compiler's own portable vocabulary: eight words to a vector, whatever the machine makes of
that. docs/design.md tells what that brought.

``lanes``, the number of words, must be a constant of the calling kernel. None of these functions
checks a bound: the caller's arithmetic is the guarantee. With the JIT off each is one or two
lines of numpy.
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
VECTOR = 8  # words of a vector
LINE = 16  # words of a cache line


def _vectors(lanes: int) -> list[tuple[int, ir.VectorType]]:
    """The run of words cut into vectors: (offset, type)."""
    widths = [VECTOR] * (lanes // VECTOR) + ([lanes % VECTOR] if lanes % VECTOR else [])
    return [(VECTOR * number, ir.VectorType(WORD, width)) for number, width in enumerate(widths)]


class _Words:
    """A run of words inside an array argument of an intrinsic."""

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
    """A call of a vector operation of the compiler, named after its first argument's type."""
    signature = ir.FunctionType(result, [arg.type for arg in args])
    name = f"llvm.{name}.v{args[0].type.count}i32"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def _splat(builder, word, vector: ir.VectorType):
    """A vector with the same word in every place."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(WORD, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(vector, [0] * vector.count))


@intrinsic(prefer_literal=True)
def _or_rows(typing_context, target, target_at, source, source_at, lanes):
    def generate(context, builder, signature, args):
        to = _Words(context, builder, target, args[0], args[1])
        given = _Words(context, builder, source, args[2], args[3])
        for offset, vector in _vectors(lanes.literal_value):
            to.store(builder.or_(to.load(offset, vector), given.load(offset, vector)), offset)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _or_gathered(typing_context, target, target_at, source, source_at, places, places_at, lanes):
    def generate(context, builder, signature, args):
        to = _Words(context, builder, target, args[0], args[1])
        given = _Words(context, builder, source, args[2], args[3])
        chosen = _Words(context, builder, places, args[4], args[5])
        for offset, vector in _vectors(lanes.literal_value):
            words = ir.Constant(vector, ir.Undefined)
            for lane in range(vector.count):
                place = builder.load(builder.gep(chosen.start, [ir.Constant(COUNT, offset + lane)]))
                word = builder.load(builder.gep(given.start, [builder.zext(place, COUNT)]))
                words = builder.insert_element(words, word, ir.Constant(WORD, lane))
            to.store(builder.or_(to.load(offset, vector), words), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, places, types.int64, lanes)
    return types.void(*arguments), generate


@intrinsic(prefer_literal=True)
def _or_turned(typing_context, target, target_at, source, source_at, masks, turns, first, last, lanes):
    def generate(context, builder, signature, args):
        to = _Words(context, builder, target, args[0], args[1])
        given = _Words(context, builder, source, args[2], args[3])
        vectors = _vectors(lanes.literal_value)
        words = [given.load(offset, vector) for offset, vector in vectors]
        results = [cgutils.alloca_once_value(builder, to.load(offset, vector)) for offset, vector in vectors]
        with cgutils.for_range(builder, builder.sub(args[7], args[6])) as loop:
            term = builder.add(loop.index, args[6])
            mask = builder.load(_Words(context, builder, masks, args[4], term).start)
            turn = builder.load(_Words(context, builder, turns, args[5], term).start)
            for word, result in zip(words, results, strict=True):
                chosen = builder.and_(word, _splat(builder, mask, word.type))
                turned = _call(builder, "fshl", word.type, chosen, chosen, _splat(builder, turn, word.type))
                builder.store(builder.or_(builder.load(result), turned), result)
        for (offset, _), result in zip(vectors, results, strict=True):
            to.store(builder.load(result), offset)
        return context.get_dummy_value()

    arguments = (target, types.int64, source, types.int64, masks, turns, types.int64, types.int64, lanes)
    return types.void(*arguments), generate


@intrinsic(prefer_literal=True)
def _prefetch(typing_context, source, source_at, lanes):
    def generate(context, builder, signature, args):
        given = _Words(context, builder, source, args[0], args[1])
        signature = ir.FunctionType(ir.VoidType(), [given.start.type, WORD, WORD, WORD])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        how = [ir.Constant(WORD, value) for value in (0, 3, 1)]  # to read, keep it near, data
        for word in range(0, lanes.literal_value, LINE):
            builder.call(function, [builder.gep(given.start, [ir.Constant(COUNT, word)]), *how])
        return context.get_dummy_value()

    return types.void(source, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def _settle(typing_context, found, found_at, visited, fresh, at, lanes):
    def generate(context, builder, signature, args):
        reached = _Words(context, builder, found, args[0], args[1])
        seen_words = _Words(context, builder, visited, args[2], args[4])
        fresh_words = _Words(context, builder, fresh, args[3], args[4])
        total = ir.Constant(COUNT, 0)
        for offset, vector in _vectors(lanes.literal_value):
            seen = seen_words.load(offset, vector)
            new = builder.and_(reached.load(offset, vector), builder.not_(seen))
            fresh_words.store(new, offset)
            seen_words.store(builder.or_(seen, new), offset)
            count = _call(builder, "vector.reduce.add", WORD, _call(builder, "ctpop", vector, new))
            total = builder.add(total, builder.zext(count, COUNT))
        return total

    return types.int64(found, types.int64, visited, fresh, types.int64, lanes), generate


def _plain_or_rows(target, target_at, source, source_at, lanes):
    """``target |= source``, ``lanes`` words from the given places."""
    target[target_at : target_at + lanes] |= source[source_at : source_at + lanes]


def _plain_or_gathered(target, target_at, source, source_at, places, places_at, lanes):
    """``target |= source`` with the words shuffled: word i comes from ``source_at + places[places_at + i]``."""
    target[target_at : target_at + lanes] |= source[source_at + places[places_at : places_at + lanes].astype(np.int64)]


def _plain_or_turned(target, target_at, source, source_at, masks, turns, first, last, lanes):
    """``target |= source`` with the bits of every word shuffled.

    The shuffle is the union of terms ``first`` ... ``last - 1``: the bits chosen by ``masks[term]``,
    turned left by ``turns[term]``.
    """
    words = source[source_at : source_at + lanes]
    for term in range(first, last):
        chosen = (words & masks[term]).astype(np.uint64) << np.uint64(turns[term])
        target[target_at : target_at + lanes] |= (chosen | chosen >> np.uint64(32)).astype(np.uint32)


def _plain_prefetch(source, source_at, lanes):
    """Have words brought near that will be read soon."""


def _plain_settle(found, found_at, visited, fresh, at, lanes):
    """``fresh = found & ~visited; visited |= fresh``; returns the number of fresh bits."""
    seen = visited[at : at + lanes]
    new = found[found_at : found_at + lanes] & ~seen
    fresh[at : at + lanes] = new
    seen |= new
    return int(np.bitwise_count(new).sum())


if numba.config.DISABLE_JIT:
    or_rows, or_gathered, or_turned = _plain_or_rows, _plain_or_gathered, _plain_or_turned
    prefetch, settle = _plain_prefetch, _plain_settle
else:
    or_rows, or_gathered, or_turned = _or_rows, _or_gathered, _or_turned
    prefetch, settle = _prefetch, _settle

"""How kernels are compiled and cached, and a few machine operations that Python has no name for.

``@kernel`` compiles a function to run without the interpreter lock. ``@shared`` leaves a function in plain Python and
lets kernels inline it. So index arithmetic is written once: compiled inside the level loop, and interpreted for a
single look-up, where compiling would cost more than it saves.

``compile_cache`` decides where compiled code is kept and when it is removed, ``code_files`` whether it is believed.

With ``NUMBA_DISABLE_JIT=1`` the builder runs as plain Python, and the Python bodies of the operations below do the
work. The solver does not run that way: there the compiler chooses the body of each heuristic.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from .code_files import CodeFiles
from .compile_cache import prepare_cache

_folder = prepare_cache(numba.__version__)
shared = register_jitable
inlined = register_jitable(forceinline=True)


def kernel(function: Callable, **options) -> Callable:
    """Decorator: compile a function when it is called with arguments of types that are new, or read it from a file."""
    compiled = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if _folder and not numba.config.DISABLE_JIT:
        compiled._cache = CodeFiles(function, _folder)
    return compiled


def borrowing(function: Callable) -> Callable:
    """``kernel`` for a function that makes no arrays: it does not count references to those it is given.

    Counting is atomic, and in a loop of nanoseconds it can take most of the time.
    """
    return kernel(function, _nrt=False)


def popcount(word):
    """The number of bits set in a word."""
    return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()


def lowest(word):
    """The position of the lowest bit set in a word that is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


@intrinsic
def _popcount(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return word(word), generate


@intrinsic
def _lowest(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(numba.types.boolean, False))

    return word(word), generate


@overload(popcount)
def _compiled_popcount(word):
    return lambda word: _popcount(word)


@overload(lowest)
def _compiled_lowest(word):
    return lambda word: _lowest(word)


def prefetch_line(array, at):
    """Request the cache line of an element that will soon be read."""


def _request_line(builder, pointer):
    """Generate the instruction that requests the cache line of a pointer."""
    flag = ir.IntType(32)
    shape = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
    function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
    builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # for reading, into the nearest cache, data


@intrinsic
def _prefetch_line(typing_context, array, at):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        _request_line(builder, builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return numba.types.void(array, at), generate


@overload(prefetch_line)
def _compiled_prefetch_line(array, at):
    return lambda array, at: _prefetch_line(array, at)


def fetch(array, at):
    """``array[at]`` of a flat array, for kernels: ``at`` must not be negative, and is not checked."""
    return array[at]


@intrinsic
def _fetch(typing_context, array, at):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, numba.types.int64), generate


@overload(fetch)
def _compiled_fetch(array, at):
    return lambda array, at: _fetch(array, at)


def word_at(array, at):
    """Eight bytes of a flat array as a word, the first one lowest, for kernels: that they are there is not checked."""
    return int.from_bytes(array[at : at + 8].tobytes(), "little", signed=True)


@intrinsic
def _word_at(typing_context, array, at):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        word = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return numba.types.int64(array, numba.types.int64), generate


@overload(word_at)
def _compiled_word_at(array, at):
    return lambda array, at: _word_at(array, at)


def put(array, at, value):
    """``array[at] = value`` for a flat array, for kernels: ``at`` must not be negative, and is not checked."""
    array[at] = value


@intrinsic
def _put(typing_context, array, at, value):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64, array.dtype), generate


@overload(put)
def _compiled_put(array, at, value):
    return lambda array, at, value: _put(array, at, value)


def copy(target, to, source, at, count):
    """Copy elements of a flat array to another of the same type, for kernels: that they are there is not checked."""
    target[to : to + count] = source[at : at + count]


@intrinsic
def _copy(typing_context, target, to, source, at, count):
    def generate(context, builder, signature, args):
        pointers = [
            builder.gep(context.make_array(kind)(context, builder, array).data, [place])
            for kind, array, place in zip(signature.args[:3:2], args[:3:2], args[1:4:2], strict=True)
        ]
        size = context.get_abi_sizeof(context.get_data_type(target.dtype))
        cgutils.raw_memcpy(builder, *pointers, args[4], size)
        return context.get_dummy_value()

    number = numba.types.int64
    return numba.types.void(target, number, source, number, number), generate


@overload(copy)
def _compiled_copy(target, to, source, at, count):
    return lambda target, to, source, at, count: _copy(target, to, source, at, count)


def put_bits(array, at, bits):
    """Set bits of an element of a flat array, and return what it was before, for kernels.

    Not one is lost if several threads do so at a time.
    """
    before = array[at]
    array[at] |= bits
    return before


@intrinsic
def _put_bits(typing_context, array, at, bits):
    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("or", builder.gep(data, [args[1]]), args[2], "monotonic")

    return array.dtype(array, numba.types.int64, array.dtype), generate


@overload(put_bits)
def _compiled_put_bits(array, at, bits):
    return lambda array, at, bits: _put_bits(array, at, bits)


def call_at(address, first, second):
    """Call the machine code at an address, for kernels: an int64 function of the elements of two int64 arrays."""
    numbers = ctypes.POINTER(ctypes.c_int64)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, numbers, numbers)(address)
    return function(first.ctypes.data_as(numbers), second.ctypes.data_as(numbers))


@intrinsic
def _call_at(typing_context, address, first, second):
    def generate(context, builder, signature, args):
        arrays = zip(signature.args[1:], args[1:], strict=True)
        data = [context.make_array(kind)(context, builder, array).data for kind, array in arrays]
        function = ir.FunctionType(ir.IntType(64), [pointer.type for pointer in data])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), data)

    return numba.types.int64(numba.types.int64, first, second), generate


@overload(call_at)
def _compiled_call_at(address, first, second):
    return lambda address, first, second: _call_at(address, first, second)


def byte_at(address):
    """The byte at an address of memory, for kernels: nothing is checked."""
    return ctypes.c_uint8.from_address(int(address)).value


@intrinsic
def _byte_at(typing_context, address):
    def generate(context, builder, signature, args):
        byte = builder.load(builder.inttoptr(args[0], ir.IntType(8).as_pointer()))
        return builder.zext(byte, ir.IntType(64))

    return numba.types.int64(numba.types.int64), generate


@overload(byte_at)
def _compiled_byte_at(address):
    return lambda address: _byte_at(address)


def prefetch_byte(address):
    """Request the cache line of a byte that will soon be read."""


@intrinsic
def _prefetch_byte(typing_context, address):
    def generate(context, builder, signature, args):
        _request_line(builder, builder.inttoptr(args[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return numba.types.void(numba.types.int64), generate


@overload(prefetch_byte)
def _compiled_prefetch_byte(address):
    return lambda address: _prefetch_byte(address)

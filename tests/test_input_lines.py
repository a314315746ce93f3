"""Lines as they come: the same as those of a Python stream, and no line is waited for that is not on its way."""

import os
import random
import threading

import pytest

from solver.board import parse_board
from solver.board_files import read_boards
from solver.commands.input_lines import LONGEST, InputLines

from .test_board import EIGHT


@pytest.fixture
def pipe():
    """What is read and what writes to it."""
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as reader, os.fdopen(theirs, "wb", buffering=0) as writer:
        yield reader, writer


def lines_of(data, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(data)
    with open(path, "rb") as file:
        lines = InputLines(file.fileno(), path)
        assert not lines.awaited()
        return list(lines)


def test_lines_are_those_of_a_python_stream(tmp_path):
    chance = random.Random(3)
    for _ in range(300):
        data = b"".join(chance.choices([b"\n", b"\r\n", b"\r", b"1", b"2 3", "é".encode(), b"\xff", b"\0"], k=20))
        expected = [line.rstrip("\n") for line in open_text(data, tmp_path)]
        assert lines_of(data, tmp_path) == expected


def open_text(data, tmp_path):
    path = tmp_path / "expected"
    path.write_bytes(data)
    with open(path, encoding="utf-8", errors="replace") as file:
        return list(file)


def test_long_input_is_read_piece_by_piece(tmp_path):
    text = "é" * 200_000 + "\n" + "\r\n".join(map(str, range(50_000)))
    assert lines_of(text.encode(), tmp_path) == text.replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_boards_in_files_of_windows_programs(tmp_path, encoding):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    lines = lines_of(f"{mark}1 2 3\r\n4 5 6\r\n7 8 0\r\n".encode(encoding), tmp_path)
    (text,) = (text for _, text in read_boards(lines))
    assert parse_board(text)[1] == EIGHT


def test_a_line_without_an_end_is_cut_off(tmp_path):
    (line, last) = lines_of(b"1 " * 20_000_000 + b"\n2", tmp_path)
    assert LONGEST <= len(line) < 2 * LONGEST and last == "2"


def test_half_of_a_byte_order_mark_is_not_taken_for_text(pipe):
    reader, writer = pipe
    data = "1 2 3 0\n".encode("utf-16")
    writer.write(data[:1])
    threading.Timer(0.05, lambda: (writer.write(data[1:]), writer.close())).start()
    assert list(InputLines(reader.fileno(), "a pipe")) == ["1 2 3 0"]


def test_input_that_cannot_be_read_is_named(run):
    code, output, errors = run("check", "--file", "/proc/self/mem")
    assert (code, output) == (2, "")
    assert errors == "pdb-solver: error: /proc/self/mem cannot be read: Input/output error: name another file\n"


def test_a_line_that_is_not_written_yet_is_awaited(pipe):
    reader, writer = pipe
    lines = InputLines(reader.fileno(), "a pipe")
    assert lines.awaited()
    writer.write(b"1 2")
    assert lines.awaited(), "half a line"
    writer.write(b" 3\n4")
    assert not lines.awaited() and next(iter(lines)) == "1 2 3" and lines.awaited()
    writer.close()
    assert not lines.awaited() and list(lines) == ["4"] and not lines.awaited()


def test_a_board_is_answered_while_the_pipe_stays_open(pipe):
    reader, writer = pipe
    lines = InputLines(reader.fileno(), "a pipe")
    boards = read_boards(lines, None, lines.awaited)
    for text in ("1 2 3 4 5 6 7 8 0", "3 2 1 0", "8 7 6 5 4 3 2 1 0"):
        writer.write(f"{text}\n".encode())
        assert next(boards)[1] == text


def test_a_matrix_written_row_by_row_is_one_board(pipe):
    reader, writer = pipe
    lines = InputLines(reader.fileno(), "a pipe")
    rows = ["1 2 3 0", "5 6 7 4", "9 10 11 8", "13 14 15 12"]

    def write():
        for row in rows:
            writer.write(f"{row}\n".encode())

    threading.Thread(target=write).start()
    assert next(read_boards(lines, None, lines.awaited)) == (1, " / ".join(rows))


def test_text_with_nul_characters_is_said_to_be_utf_16(run, tmp_path):
    path = tmp_path / "boards.txt"
    path.write_bytes("1 2 3 4 5 6 7 8 0\n".encode("utf-16-le"))
    code, _, errors = run("check", "--file", str(path))
    assert code == 2 and "NUL characters, as UTF-16 has: save the text as UTF-8" in errors


def test_the_matrix_of_the_first_row_that_is_a_board(run):
    code, output, errors = run("check", stdin="1 2 3 0\n5 6 7 4\n9 10 11 8\n13 14 15 12\n")
    assert (code, errors) == (0, "") and output.count("\n") == 1

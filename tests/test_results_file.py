"""The results file of a comparison: nothing that was done is lost, whatever ends the program."""

import csv
import hashlib
import os
import random
import resource
import signal

import pytest

from pdb_builder.base.errors import InputError
from solver.comparison.cells import Cell
from solver.comparison.results_file import ResultsFile

CELLS = [
    Cell(1, "1 2 3 4 5 6 0 7 8", "last", "ida-star", "manhattan", 2, 2, 3, 7, None, 0.000125, None),
    Cell(1, "1 2 3 4 5 6 0 7 8", "last", "a-star", "pdb:odd, name", 2, 2, 3, 7, 5, 1.5, None, "Z80, 1 core", "0.2.0"),
    Cell(2, "1 2 3 / 0 4 5", "5 4 3 / 2 1 0", "ida-star", "manhattan", None, 2, 10**12, 10**13, None, 600.0, "time"),
]
FIELDS = "instance,board,goal,algorithm,heuristic,length,h_start,expanded,generated,stored,seconds,limit_hit"
HEADER = f"{FIELDS},machine,revision,check"
NO_ORIGIN = f"{FIELDS},check"  # the header of an earlier revision


def checked(fields):
    """A line of these fields with its checksum."""
    return f"{fields},{hashlib.sha256(fields.encode()).hexdigest()[:8]}"


def without_origin(cells):
    """The cells as an earlier revision has saved them."""
    return [cell._replace(machine="", revision="") for cell in cells]


def earlier(path, cells):
    """Write a file as an earlier revision did, which did not say where the cells are from."""
    lines = written(path, without_origin(cells)).splitlines()[1:]
    path.write_text("\n".join([NO_ORIGIN, *(checked(line[: -len(",,,01234567")]) for line in lines)]) + "\n")
    return path.read_bytes()


def by_instance(cell):
    return cell.instance


def written(path, cells, resume=False, order=by_instance):
    with ResultsFile(path, resume) as results:
        for cell in cells:
            results.add(cell)
        results.sort(order)
    return path.read_text()


def read(path):
    with ResultsFile(path, resume=True) as results:
        return results.cells


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "a.csv"
    text = written(path, CELLS)
    assert text.splitlines()[0] == HEADER
    assert text.splitlines()[1] == checked("1,1 2 3 4 5 6 0 7 8,last,ida-star,manhattan,2,2,3,7,,0.000125,,,")
    assert text.splitlines()[2].split(",5,1.5,,")[1].startswith('"Z80, 1 core",0.2.0,')
    assert read(path) == CELLS
    assert [row["heuristic"] for row in csv.DictReader(text.splitlines())] == [cell.heuristic for cell in CELLS]


@pytest.mark.parametrize(
    "cell",
    [
        CELLS[2]._replace(algorithm="bidirectional", length=24, stored=5, limit_hit="nodes"),
        CELLS[2]._replace(algorithm="dfs:30", heuristic="none", limit_hit="depth"),
        CELLS[2]._replace(algorithm="beam:100", limit_hit="width"),
        CELLS[0]._replace(algorithm="weighted-a-star:1.5", length=24),
        CELLS[0]._replace(algorithm="greedy", heuristic="inversions", h_start=99),
    ],
    ids=lambda cell: cell.algorithm,
)
def test_results_of_suboptimal_searches_are_read_back(tmp_path, cell):
    written(tmp_path / "a.csv", [cell])
    assert read(tmp_path / "a.csv") == [cell]


def test_every_line_is_written_at_once(tmp_path):
    with ResultsFile(tmp_path / "a.csv", resume=False) as results:
        for number, cell in enumerate(CELLS, 2):
            results.add(cell)
            assert len((tmp_path / "a.csv").read_text().splitlines()) == number


def test_an_existing_file_is_not_overwritten(tmp_path):
    text = written(tmp_path / "a.csv", CELLS)
    with pytest.raises(FileExistsError):
        ResultsFile(tmp_path / "a.csv", resume=False)
    assert (tmp_path / "a.csv").read_text() == text


def test_resuming_appends_to_a_file(tmp_path):
    path = tmp_path / "a.csv"
    written(path, CELLS[:1], resume=True)
    written(path, CELLS[1:], resume=True)
    assert read(path) == CELLS


def test_only_an_incomplete_last_line_is_dropped(tmp_path):
    path = tmp_path / "a.csv"
    whole = written(path, CELLS).encode()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        known = max(0, sum(end <= size for end in ends) - 1)
        assert read(path) == CELLS[:known], size
        written(path, CELLS[known:], resume=True)
        assert path.read_bytes() == whole, size


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,c\n1,2,3\n",
        b"hello",
        b"\xff\xfe\x00",
        b"\n",
        HEADER.upper().encode() + b"\n",
        (HEADER + ",more\n").encode(),
        b'"' + b"x" * 200_000 + b'"\n',
    ],
    ids=["columns", "text", "binary", "empty line", "capitals", "more", "long"],
)
def test_other_files_are_left_alone(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a.csv is not a results file: its first line is not") as error:
        read(path)
    assert "\n" not in str(error.value) and path.read_bytes() == content


@pytest.mark.parametrize("resume", [False, True])
def test_a_pipe_is_refused_without_waiting(resume, tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a.csv is not a regular file: choose another name"):
        ResultsFile(tmp_path / "a.csv", resume=resume)


@pytest.mark.parametrize(
    "line",
    [
        "x,1 2 3 0,last,ida-star,manhattan,2,2,3,7,,0.1,",
        "1,1 2 3 0,last,ida-star,manhattan,,2,3,7,,0.1,",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,7,,0.1,nodes",
        "1,1 2 3 0,last,beam:100,manhattan,2,2,3,7,,0.1,width",
        "1,1 2 3 0,last,ida-star,manhattan,,2,3,7,,0.1,patience",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,7,,0.1",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,-7,,0.1,",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,0,,0.1,",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,7,,nan,",
        "1,1 2 3 0,last,ida-star,manhattan,2,2,3,7,,-1,",
        f"1,1 2 3 0,last,ida-star,manhattan,2,2,3,{10**400},,0.1,",
        "",
    ],
)
def test_an_invalid_line_is_named(line, tmp_path):
    path = tmp_path / "a.csv"
    text = written(path, CELLS[:1]) + checked(f"{line},Z80,0.2.0") + "\n1,1 2 3 0,ida"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a.csv, line 3: '.*' is not a line of results"):
        read(path)
    assert path.read_text() == text


def test_a_changed_line_is_named_whatever_was_changed(tmp_path):
    path = tmp_path / "a.csv"
    good = written(path, CELLS)
    lines = good.splitlines()
    chance = random.Random(1)
    for number in (2, 3, 4):
        line = lines[number - 1]
        for at in range(len(line)):
            other = chance.choice([letter for letter in "0123456789abcdef" if letter != line[at]])
            changed = [*lines[: number - 1], line[:at] + other + line[at + 1 :], *lines[number:]]
            path.write_text("\n".join(changed) + "\n")
            with pytest.raises(InputError, match=rf"a.csv, line {number}: '.*' (does not match its checksum|is not a)"):
                read(path)
    path.write_text(good.replace(",7,,0.000125", ",8,,0.000125"))
    with pytest.raises(
        InputError,
        match=r"a.csv, line 2: '1,1 .*' does not match its checksum, so it was changed: remove it, to search",
    ):
        read(path)


def test_a_line_after_a_record_of_two_lines_is_named_by_its_own_number(tmp_path):
    path = tmp_path / "a.csv"
    odd = CELLS[0]._replace(heuristic="pdb:two\nlines")
    path.write_text(written(path, [odd]) + "junk\n")
    with pytest.raises(InputError, match=r"a.csv, line 4: 'junk' is not a line of results: remove it"):
        read(path)


def test_a_database_may_have_any_name(tmp_path):
    odd = CELLS[0]._replace(heuristic=os.fsdecode(b"pdb:\xff\xe4, 'x' \"y\""))
    with ResultsFile(tmp_path / "a.csv", resume=False) as results:
        results.add(odd)
    assert read(tmp_path / "a.csv") == [odd]


@pytest.mark.parametrize("header", [FIELDS, NO_ORIGIN], ids=["without checksums", "with checksums"])
def test_a_file_that_does_not_say_its_goal_is_from_an_earlier_version(header, tmp_path):
    path = tmp_path / "a.csv"
    content = f"{header.replace('goal,', '')}\n1,1 2 3 4 5 6 0 7 8,ida-star,manhattan,2,2,3,7,,0.000125,\n"
    path.write_text(content)
    with pytest.raises(InputError, match=r"a.csv is from an earlier version, which saved no goals: choose"):
        read(path)
    assert path.read_text() == content


# ---- files of an earlier revision, which do not say where a line was measured -----------------------


def test_lines_that_do_not_say_where_they_are_from_are_read_and_the_file_is_left_alone(tmp_path):
    path = tmp_path / "a.csv"
    content = earlier(path, CELLS)
    assert read(path) == without_origin(CELLS) and path.read_bytes() == content
    path.write_bytes(content[:-9])
    assert read(path) == without_origin(CELLS[:2])
    assert path.read_bytes() == content[: content[:-1].rfind(b"\n") + 1], "as any incomplete line, it is dropped"


@pytest.mark.parametrize("size", [20, len(FIELDS), len(NO_ORIGIN) - 1, len(NO_ORIGIN)])
def test_an_incomplete_header_of_an_earlier_revision_is_replaced(size, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(NO_ORIGIN[:size])
    assert read(path) == [] and path.read_text() == f"{HEADER}\n"


def test_a_file_has_all_columns_as_soon_as_a_line_is_added(tmp_path):
    """Whatever ends the program after that: there are no lines of two kinds."""
    path = tmp_path / "a.csv"
    earlier(path, CELLS[:1])
    path.chmod(0o600)
    with ResultsFile(path, resume=True) as results:
        for number, cell in enumerate(CELLS[1:], 2):
            results.add(cell)
            lines = path.read_text().splitlines()
            assert lines[0] == HEADER and len(lines) == number + 1
        with pytest.raises(InputError, match="another program is writing to"):
            ResultsFile(path, resume=True)
    assert read(path) == [*without_origin(CELLS[:1]), *CELLS[1:]]
    assert path.stat().st_mode & 0o777 == 0o600 and os.listdir(tmp_path) == ["a.csv"]


def test_a_file_has_all_columns_when_it_was_sorted(tmp_path):
    path = tmp_path / "a.csv"
    earlier(path, CELLS)
    assert written(path, [], resume=True).startswith(f"{HEADER}\n") and read(path) == without_origin(CELLS)


@pytest.mark.parametrize("line", [2, 3, 4])
def test_a_changed_line_of_an_earlier_revision_is_named(line, tmp_path):
    path = tmp_path / "a.csv"
    lines = earlier(path, CELLS).decode().splitlines()
    lines[line - 1] = lines[line - 1].replace(" 2 3", " 3 2")
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"a.csv, line {line}: '.*' does not match its checksum"):
        read(path)


@pytest.mark.parametrize("header", [HEADER, NO_ORIGIN])
def test_lines_of_the_other_kind_are_refused(header, tmp_path):
    path = tmp_path / "a.csv"
    lines = [written(path, CELLS[:1]), earlier(tmp_path / "b.csv", CELLS[:1]).decode()]
    path.write_text(f"{header}\n{lines[header == HEADER].splitlines()[1]}\n")
    with pytest.raises(InputError, match=r"a.csv, line 2: '.*' is not a line of results"):
        read(path)


def test_a_file_whose_columns_cannot_be_completed_is_kept(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.csv"
    content = earlier(path, CELLS[:2])
    with ResultsFile(path, resume=True) as results, monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(InputError, match=r"a.csv: No space left on device: make room, and continue with `resume`"):
            results.add(CELLS[2])
        results.sort(by_instance)
    assert path.read_bytes() == content and os.listdir(tmp_path) == ["a.csv"]


def test_columns_are_not_completed_in_a_file_that_was_moved_away(tmp_path):
    path = tmp_path / "a.csv"
    content = earlier(path, CELLS[:2])
    with ResultsFile(path, resume=True) as results:
        os.rename(path, tmp_path / "b.csv")
        path.write_text("something else")
        with pytest.raises(
            InputError, match=r"a.csv was moved or removed while it was open: put it back, and continue"
        ):
            results.add(CELLS[2])
    assert path.read_text() == "something else" and (tmp_path / "b.csv").read_bytes() == content


# ---- what can go wrong ----------------------------------------------------------------------------


def test_a_large_file_of_another_kind_is_not_read(tmp_path):
    path = tmp_path / "a.csv"
    with open(path, "wb") as file:
        file.write(b"\x89HDF\r\n")
        file.truncate(10**13)  # a hole: it takes no room on the disk
    with pytest.raises(InputError, match="is not a results file"):
        read(path)


@pytest.mark.parametrize("room", [0, 20, len(HEADER) + 1, len(HEADER) + 30])
def test_a_full_disk_is_one_error_and_keeps_the_lines_before(room, tmp_path):
    """A limit on the size of files stands for a full disk: a line may be written in part."""
    path = tmp_path / "a.csv"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with (
            pytest.raises(InputError, match=r"a.csv: File too large: make room, and continue with `resume` .*a.csv"),
            ResultsFile(path, resume=True) as results,
        ):
            results.add(CELLS[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.stat().st_size == room
    written(path, CELLS[1:2], resume=True)
    assert read(path) == CELLS[1:2]


def test_two_programs_do_not_write_to_one_file(tmp_path):
    with ResultsFile(tmp_path / "a.csv", resume=True) as results:
        with pytest.raises(InputError, match="another program is writing to"):
            ResultsFile(tmp_path / "a.csv", resume=True)
        results.add(CELLS[0])
    assert read(tmp_path / "a.csv") == CELLS[:1]


def test_a_file_that_is_replaced_while_it_is_opened_is_not_written_to(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    written(path, CELLS)

    def replaced(file, how):
        (tmp_path / "new").write_text(path.read_text())
        os.replace(tmp_path / "new", path)

    monkeypatch.setattr("fcntl.flock", replaced)
    with pytest.raises(InputError, match="another program is writing to"):
        ResultsFile(path, resume=True)


def test_a_file_that_was_moved_away_does_not_replace_another(tmp_path):
    path = tmp_path / "a.csv"
    with ResultsFile(path, resume=False) as results:
        for cell in CELLS[::-1]:
            results.add(cell)
        os.rename(path, tmp_path / "b.csv")
        path.write_text("something else")
        results.sort(by_instance)
    assert path.read_text() == "something else" and len(read(tmp_path / "b.csv")) == 3


@pytest.mark.parametrize("done_first", [False, True])
def test_sorting_keeps_the_cell_that_got_furthest(tmp_path, done_first):
    path = tmp_path / "a.csv"
    limited, done = CELLS[2], CELLS[2]._replace(length=20, generated=10**12, limit_hit=None)
    both = [done, limited] if done_first else [limited, done]
    written(path, [both[0], CELLS[1], CELLS[0], both[1]], order=lambda cell: (cell.instance, cell.algorithm))
    assert read(path) == [CELLS[1], CELLS[0], done]
    assert os.listdir(tmp_path) == ["a.csv"]


def test_an_unproven_solution_ranks_between_a_proof_and_none(tmp_path):
    none = CELLS[2]._replace(algorithm="bidirectional", generated=10**13)
    unproven, done = none._replace(length=24, generated=10**12), none._replace(length=22, generated=10, limit_hit=None)
    for number, lines in enumerate(([none, unproven], [unproven, none])):
        written(tmp_path / f"{number}.csv", lines)
        assert read(tmp_path / f"{number}.csv") == [unproven]
    written(tmp_path / "a.csv", [done, unproven, none])
    assert read(tmp_path / "a.csv") == [done]


def test_the_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.csv"
    written(path, CELLS[:1])
    path.chmod(0o600)
    written(path, [CELLS[2], CELLS[1]], resume=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_byte_order_mark_and_other_line_ends_are_accepted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + written(path, CELLS[:2]).replace("\n", "\r\n").encode() + b"2,cut sh")
    written(path, CELLS[2:], resume=True)
    assert read(path) == CELLS


def test_a_link_is_followed(tmp_path):
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    written(tmp_path / "b.csv", CELLS[::-1], resume=True)
    assert (tmp_path / "b.csv").is_symlink() and read(tmp_path / "a.csv")[0].instance == 1


def test_nothing_is_lost_if_sorting_fails(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    written(tmp_path / "a.csv", CELLS[::-1])
    assert read(tmp_path / "a.csv") == CELLS[::-1] and os.listdir(tmp_path) == ["a.csv"]


def test_a_file_with_a_long_name_can_be_sorted(tmp_path):
    path = tmp_path / ("x" * 250 + ".csv")
    written(path, CELLS[::-1])
    assert read(path) == [CELLS[1], CELLS[0], CELLS[2]] and os.listdir(tmp_path) == [path.name]

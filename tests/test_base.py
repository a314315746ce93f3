"""The base layer: files that are replaced, folders, errors, threads, and the cache of compiled code."""

import ast
import inspect
import io
import os
import re
import stat
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pdb_builder.base import compile_cache, errors, folders
from pdb_builder.base.compile_cache import kernel_sources, prepare_cache
from pdb_builder.base.errors import DatabaseError, InputError, SlidepdbError
from pdb_builder.base.files import KINDS, check_output, check_writable, output_file, remove_unfinished, replaced
from pdb_builder.base.folders import make_folder
from pdb_builder.base.machine import available_memory, default_threads, description, processor, processor_and_cores
from pdb_builder.base.wording import counted
from pdb_builder.base.workers import MAX_THREADS, Workers, check_threads

ROOT = Path(__file__).parent.parent


# ---- errors -------------------------------------------------------------------------------------


def test_all_errors_have_one_base_class():
    found = [error for _, error in inspect.getmembers(errors, inspect.isclass)]
    assert len(found) > 10 and all(issubclass(error, SlidepdbError) for error in found)
    assert issubclass(InputError, ValueError) and not issubclass(InputError, DatabaseError)


def test_errors_are_defined_nowhere_else():
    """Exceptions elsewhere are signals between our own functions, not errors."""
    names = "|".join(name for name, _ in inspect.getmembers(errors, inspect.isclass))
    for package in ("pdb_builder", "solver"):
        for path in (ROOT / package).rglob("*.py"):
            if path.name != "errors.py":
                for name, bases in re.findall(r"^class (\w+)\((.*)\):", path.read_text(), re.MULTILINE):
                    assert not name.endswith("Error") and not re.search(rf"\b({names}|\w+Error)\b", bases), (path, name)


# ---- words --------------------------------------------------------------------------------------


def test_one_thing_is_not_several(monkeypatch):
    assert [counted(number, "core") for number in (0, 1, 2, 1500)] == ["0 cores", "1 core", "2 cores", "1,500 cores"]
    monkeypatch.setattr("pdb_builder.base.machine.default_threads", lambda: 1)
    assert ", 1 core, Python " in description()


# ---- the machine --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cpuinfo, expected",
    [
        ("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC  9B14 \nmodel name\t: other\n", "AMD EPYC 9B14"),
        ("model name\t: Intel(R) Xeon(R) CPU @ 2.00GHz: fast\n", "Intel(R) Xeon(R) CPU @ 2.00GHz: fast"),
        ("processor\t: 0\nCPU implementer\t: 0x41\n", "aarch64"),
        ("model name\t: unknown\n", "aarch64"),
        ("model name\t:\n", "aarch64"),
        (None, "aarch64"),
    ],
)
def test_the_processor_is_named_by_its_model_or_its_architecture(cpuinfo, expected, monkeypatch):
    def read(path, **options):
        if cpuinfo is None:
            raise FileNotFoundError(path)
        return io.StringIO(cpuinfo)

    monkeypatch.setattr("pdb_builder.base.machine.open", read, raising=False)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    monkeypatch.setattr("pdb_builder.base.machine.default_threads", lambda: 2)
    processor.cache_clear()
    try:
        assert processor_and_cores() == f"{expected}, 2 cores"
    finally:
        processor.cache_clear()


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files, expected",
    [
        ({"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"}, 4_096_000),
        ({"/sys/fs/cgroup/memory.max": "max\n"}, 4_096_000),
        ({"/sys/fs/cgroup/memory.max": "3000000\n"}, 1_600_000),  # what files take can be given back
        ({"/sys/fs/cgroup/memory.max": "1000000\n"}, 0),
        ({"/sys/fs/cgroup/memory.max": "99000000\n"}, 4_096_000),
    ],
)
def test_the_memory_of_a_container_is_what_its_limit_leaves(files, expected, monkeypatch):
    files = {
        "/proc/meminfo": "MemAvailable: 4000 kB\n",
        "/sys/fs/cgroup/memory.current": "2000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1400000\nfile 900000\nactive_file 200000\ninactive_file 400000\n",
    } | files

    def read(path):
        if path not in files:
            raise FileNotFoundError(path)
        return io.StringIO(files[path])

    monkeypatch.setattr("pdb_builder.base.machine.open", read, raising=False)
    assert available_memory() == expected


@pytest.fixture
def target(tmp_path):
    """A file with old contents, alone in its folder."""
    path = tmp_path / "target.txt"
    path.write_bytes(b"old")
    return path


def only_old(path):
    return list(path.parent.iterdir()) == [path] and path.read_bytes() == b"old"


def test_a_file_appears_complete_when_the_block_ends(target):
    with replaced(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_bytes() == b"old"
        (temporary,) = set(target.parent.iterdir()) - {target}
        assert temporary.name.startswith(".target.txt.") and temporary.name.endswith(".tmp")
    assert target.read_bytes() == b"new" and list(target.parent.iterdir()) == [target]


def test_the_temporary_file_can_be_in_another_folder(target, tmp_path):
    workshop = tmp_path / "workshop"
    workshop.mkdir()
    with replaced(target, folder=workshop) as file:
        file.write(b"new")
        assert len(list(workshop.glob("*.tmp"))) == 1
    assert target.read_bytes() == b"new" and not list(workshop.iterdir())


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("a defect"), KeyboardInterrupt()])
def test_an_error_in_the_block_leaves_the_old_file_alone(error, target):
    with pytest.raises(type(error)), replaced(target) as file:
        file.write(b"new")
        raise error
    assert only_old(target)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_at_the_end_leaves_the_old_file_alone(call, target, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"), replaced(target) as file:
        file.write(b"new")
    assert only_old(target)


def test_two_writers_do_not_disturb_each_other(target):
    with replaced(target) as first, replaced(target) as second:
        first.write(b"first")
        second.write(b"second")
    assert target.read_bytes() == b"first"  # the last one to finish
    assert list(target.parent.iterdir()) == [target]


def test_permissions_are_kept(target):
    target.chmod(0o640)
    with replaced(target) as file:
        file.write(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127])
def test_names_may_be_as_long_as_the_file_system_allows(name, tmp_path):
    with replaced(tmp_path / name) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == [name]


def test_a_pipe_or_a_folder_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(FileExistsError, match="not a regular file"), replaced(tmp_path / name):
            pass
        with pytest.raises(InputError, match="not a regular file"), output_file(tmp_path / name):
            pass
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_link_to_an_output_file_is_followed(target):
    link = target.with_name("link")
    link.symlink_to(target)
    with output_file(link) as file:
        file.write(b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


def test_temporary_files_can_be_removed_without_unwinding(target):
    with pytest.raises(FileNotFoundError), replaced(target) as file:
        file.write(b"new")
        remove_unfinished()
        assert only_old(target)
    remove_unfinished()
    assert only_old(target)


def test_an_output_file_that_cannot_be_written_is_bad_input(tmp_path):
    fact = r"a.txt cannot be written: No such file or directory; choose another file"
    with pytest.raises(InputError, match=fact), output_file(tmp_path / "nowhere" / "a.txt"):
        pass


def test_what_cannot_be_written_is_reported_beforehand(target, tmp_path):
    check_writable(target)
    check_writable(tmp_path / "new.txt")
    os.mkfifo(tmp_path / "pipe")
    for path, fact in (
        (tmp_path, "is a folder: choose the name of a file"),
        (tmp_path / "nowhere" / "a.txt", "there is no folder .*nowhere for a.txt: create it"),
        (tmp_path / "pipe", "is not a regular file: choose another file"),
        (tmp_path / ("x" * 300), "cannot be written: File name too long; choose another file"),
    ):
        with pytest.raises(InputError, match=fact):
            check_writable(path)
    assert target.read_bytes() == b"old" and not list(tmp_path.glob(".*"))


BEGINNINGS = {
    ".png": [b"\x89PNG\r\n\x1a\n\0\0"],
    ".gif": [b"GIF87a", b"GIF89a..."],
    ".svg": [
        b"<svg>",
        b'<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x"\n "y">\n<svg width="1pt">',
        b"\xef\xbb\xbf <SVG>",
    ],
    ".html": [b"<!doctype html><html lang=en>", b"<!DOCTYPE HTML>", b"\n<html>", b"<!-- old --> <!doctype html>"],
}
BEGINNINGS[".htm"] = BEGINNINGS[".html"]
OTHERS = [b"\x89HDF\r\n\x1a\n", b"<?xml version='1.0'?><rss>", b"<htmlx>", b"instance,board", b"\xff\xfe<\0h\0", b" "]


def test_only_a_file_of_the_same_kind_is_replaced(tmp_path):
    assert BEGINNINGS.keys() == KINDS.keys()
    for ending in KINDS:
        path = tmp_path / f"a{ending.upper()}"
        check_output(path, ".other", ending)
        for kind, beginnings in [*BEGINNINGS.items(), ("", OTHERS), (ending, [b""])]:
            for beginning in beginnings:
                path.write_bytes(beginning)
                if KINDS.get(kind) == KINDS[ending]:
                    check_output(path, ending)
                    with output_file(path) as file:
                        file.write(b"new")
                    assert path.read_bytes() == b"new"
                    continue
                for refuse in (
                    lambda path=path, ending=ending: check_output(path, ending),
                    output_file(path).__enter__,
                ):
                    with pytest.raises(InputError, match=f"it is not a {ending} file but begins with '"):
                        refuse()
                assert path.read_bytes() == beginning


def test_the_name_of_an_output_file_says_what_it_is(tmp_path):
    for name in ("a.h5", "a", ".png", "png", "a.png.", "a.png.h5"):
        with pytest.raises(InputError, match=rf"{name} does not end in .png or .svg: choose a name that does"):
            check_output(tmp_path / name, ".png", ".svg")


def test_links_that_lead_nowhere(tmp_path):
    (tmp_path / "new.png").symlink_to(tmp_path / "target.png")
    check_output(tmp_path / "new.png", ".png")
    for name, to in (("a.png", "b.png"), ("b.png", "a.png"), ("self.png", "self.png")):
        (tmp_path / name).symlink_to(to)
    for name in ("a.png", "self.png"):
        with pytest.raises(InputError, match=rf"{name} is a symbolic link that leads back to itself: choose another"):
            check_output(tmp_path / name, ".png")
        with pytest.raises(InputError, match="leads back to itself"), output_file(tmp_path / name):
            pass
        assert (tmp_path / name).is_symlink()


# ---- folders ------------------------------------------------------------------------------------


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))
    assert folders.databases_folder() == tmp_path
    monkeypatch.setenv("SLIDEPDB_DATABASES", "here")
    monkeypatch.chdir(tmp_path)
    assert folders.databases_folder() == tmp_path / "here"


@pytest.mark.parametrize("value", [None, ""])
def test_a_checkout_has_a_folder_of_databases(value, monkeypatch, tmp_path):
    monkeypatch.delenv("SLIDEPDB_DATABASES", raising=False)
    if value is not None:
        monkeypatch.setenv("SLIDEPDB_DATABASES", value)
    monkeypatch.chdir(tmp_path)
    assert folders.checkout() == ROOT
    assert folders.databases_folder() == ROOT / "databases"


@pytest.fixture
def homeless(tmp_path, monkeypatch):
    """An installed copy, and a user whose home folder, ``no``, does not exist."""
    monkeypatch.setattr(folders, "checkout", lambda: None)
    for name in ("SLIDEPDB_DATABASES", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "no"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "no"


needs_linux = pytest.mark.skipif(sys.platform == "darwin", reason="macOS has other places")


@needs_linux
def test_the_folders_of_a_user(homeless, monkeypatch):
    homeless.mkdir()
    assert folders.databases_folder() == homeless / ".local" / "share" / "slidepdb" / "databases"
    assert folders.cache_folder() == homeless / ".cache" / "slidepdb"
    monkeypatch.setenv("XDG_DATA_HOME", "/some/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert folders.databases_folder() == Path("/some/data/slidepdb/databases")
    assert folders.cache_folder() == Path("/some/cache/slidepdb")


@needs_linux
@pytest.mark.parametrize("value", ["", "here", "./here", "~"])
def test_a_variable_that_names_no_absolute_path_counts_as_unset(value, homeless, monkeypatch):
    monkeypatch.setattr("pwd.getpwuid", lambda number: SimpleNamespace(pw_dir="/home/of/someone"))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, value)
    assert folders.cache_folder() == homeless / ".cache" / "slidepdb"
    monkeypatch.setenv("HOME", value)
    assert folders.cache_folder() == Path("/home/of/someone/.cache/slidepdb")
    assert folders.databases_folder() == Path("/home/of/someone/.local/share/slidepdb/databases")


def test_a_user_whom_the_machine_does_not_know_has_no_home(homeless, monkeypatch):
    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.delenv("HOME")
    assert folders.cache_folder().is_relative_to("/nonexistent")
    assert folders.databases_folder().is_relative_to("/nonexistent")


def test_a_home_that_does_not_exist_is_not_made(homeless):
    remedy = r"there is no home folder .*no to keep files in: set \$SLIDEPDB_DATABASES to another folder"
    for folder in (folders.databases_folder(), folders.cache_folder(), homeless):
        with pytest.raises(DatabaseError, match=remedy):
            make_folder(folder)
    assert prepare_cache("1.0") is None
    assert not homeless.exists()


def test_other_folders_are_made(homeless, tmp_path, monkeypatch):
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert prepare_cache("1.0").parent == tmp_path / "cache"
    homeless.mkdir()
    make_folder(folders.cache_folder())
    assert folders.cache_folder().is_dir()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "a"):
        with pytest.raises(NotADirectoryError):
            make_folder(path)


# ---- threads ------------------------------------------------------------------------------------


def test_numbers_of_threads():
    assert check_threads(None) == min(default_threads(), MAX_THREADS)
    assert [check_threads(number) for number in (1, MAX_THREADS)] == [1, MAX_THREADS]
    for wrong in (0, -1, 300, 1.5, "two"):
        with pytest.raises(InputError, match=rf"^threads must be between 1 and 256, got {wrong!r}$"):
            check_threads(wrong)
        with pytest.raises(InputError):
            Workers(wrong)


def test_threads_that_the_system_does_not_start_are_refused(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    message = r"64 threads cannot be started here \(can't start new thread\): use fewer `threads`"
    with pytest.raises(InputError, match=message), Workers(64) as workers:
        workers.over([(0, 1), (1, 2)], max)


def test_workers_share_out_every_number_exactly_once():
    with Workers(3) as workers:
        for count in (0, 1, 5, 1000):
            ranges = workers.split(count)
            assert [number for low, high in ranges for number in range(low, high)] == list(range(count))
            assert workers.over(ranges, lambda scale, low, high: scale * (high - low), 2) == [
                2 * (b - a) for a, b in ranges
            ]
        assert all(high - low >= 100 for low, high in workers.split(1000, 100))
        with pytest.raises(ZeroDivisionError):
            workers.over([(0, 1)] * 100, lambda low, high: 1 / 0)


# ---- the cache of compiled code -----------------------------------------------------------------

COMPILED = re.compile(r"^\s*@(kernel|shared|body_of|intrinsic|overload)\b", re.MULTILINE)


def test_everything_compiled_is_among_the_sources_of_kernels():
    sources = kernel_sources(ROOT)
    compiled = {
        path.relative_to(ROOT).as_posix()
        for package in ("pdb_builder", "solver")
        for path in (ROOT / package).rglob("*.py")
        if COMPILED.search(path.read_text())
    }
    assert len(compiled) > 10 and compiled <= set(sources)
    for path, text in sources.items():
        assert text == (ROOT / path).read_bytes()


def test_whatever_a_source_of_kernels_imports_is_also_one():
    """Read from the syntax tree instead of by regular expressions."""
    sources = set(kernel_sources(ROOT))
    for path in sources:
        for node in ast.parse((ROOT / path).read_text()).body:
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith(("pdb_builder", "solver")) for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                package = (ROOT / path).parents[node.level - 1] if node.level else ROOT
                folder = package.joinpath(*(node.module or "").split("."))
                for file in (folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)):
                    if file.is_file():
                        assert file.relative_to(ROOT).as_posix() in sources, (path, file)


def test_commands_and_pictures_are_not_sources_of_kernels():
    for path in kernel_sources(ROOT):
        assert not re.search(
            r"/(commands|show|comparison)/|cli\.py|shell\.py|__main__|_page\.py|drawing|markup|findings", path
        ), path


def fake_project(root, constant):
    """Packages with a kernel that inlines a constant of another module, and a command."""
    texts = {
        "pdb_builder/base/jit.py": "import numba\n",
        "pdb_builder/kernels.py": "from .base.jit import kernel\nfrom .constants import (\n    SIZE,  # of it\n)\n",
        "pdb_builder/constants.py": f"SIZE = {constant}\n",
        "pdb_builder/commands/show.py": "from ..kernels import sweep\n",
        "solver/heuristics/contract.py": "from pdb_builder.base import jit\n",
        "solver/bound.py": "from .heuristics import contract\nfrom pdb_builder.grid import Grid\n",
        "pdb_builder/grid.py": "",
        "solver/colours.py": "import numbers\n",
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_sources_are_found_through_every_form_of_import(tmp_path):
    fake_project(tmp_path, 3)
    assert set(kernel_sources(tmp_path)) == {
        "pdb_builder/base/jit.py",
        "pdb_builder/kernels.py",
        "pdb_builder/constants.py",
        "pdb_builder/grid.py",
        "solver/bound.py",
        "solver/heuristics/contract.py",
    }


def test_every_version_of_the_sources_has_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compile_cache, "__file__", str(tmp_path / "pdb_builder" / "base" / "compile_cache.py"))
    fake_project(tmp_path, 3)
    first = prepare_cache("1.0")
    assert first.is_dir() and first.parent == tmp_path / "cache" and prepare_cache("1.0") == first
    (tmp_path / "pdb_builder" / "commands" / "show.py").write_text("# edited")
    assert prepare_cache("1.0") == first
    fake_project(tmp_path, 4)
    assert len({first, prepare_cache("1.0"), prepare_cache("1.1")}) == 3
    fake_project(tmp_path, 3)
    assert prepare_cache("1.0") == first


def test_old_folders_are_removed_and_recent_ones_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    day = 24 * 3600
    ages = {f"kernels-{number:016x}": age for number, age in enumerate([0.5, 0.9, 2, 3, 4, 5])}
    for name, age in (ages | {"kernels-other": 99, "something": 99}).items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbi").touch()
        os.utime(tmp_path / name, (time.time() - age * day,) * 2)
    current = prepare_cache("none such")
    names = set(os.listdir(tmp_path))
    assert names == {
        current.name,
        "kernels-other",
        "something",
        *list(ages)[:3],
    }  # three however old, recent ones anyway
    for name in list(ages)[:3]:
        os.utime(tmp_path / name)
    for number in range(5):
        prepare_cache(f"none such {number}")
    assert len(os.listdir(tmp_path)) == len(names) + 5  # all of them were used today


@pytest.mark.parametrize("nonsense", ["{}/file", "{}/circle", "/dev/null/x", "/proc/x", "{}/" + "x" * 300])
def test_no_cache_where_there_can_be_none(nonsense, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    monkeypatch.setenv("NUMBA_CACHE_DIR", nonsense.format(tmp_path))
    assert prepare_cache("1.0") is None


def test_a_cache_that_can_only_be_read_is_used(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = prepare_cache("1.0")
    monkeypatch.setattr(os, "utime", refused)
    assert prepare_cache("1.0") == folder

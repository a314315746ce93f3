"""The revision: the version and the commit, read as git writes it, and compared with what git says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pdb_builder import __version__
from pdb_builder import revision as module
from pdb_builder.revision import commit_of, revision

A, B = "6d25550" + "a" * 33, "0123456" + "b" * 33
BRANCH = "ref: refs/heads/main\n"


def laid_out(folder, files):
    """Write files by their names in a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"HEAD": f"{A}\n"}, A),
        ({"HEAD": "ab" * 32}, "ab" * 32),
        ({"HEAD": BRANCH, "refs/heads/main": f"{A}\n"}, A),
        ({"HEAD": BRANCH, "refs/heads/main": f"{A}\n", "packed-refs": f"{B} refs/heads/main\n"}, A),
        ({"HEAD": BRANCH, "packed-refs": f"# pack-refs with: peeled\n{A} refs/heads/main2\n{B} refs/heads/main\n"}, B),
        ({"HEAD": BRANCH, "refs/heads/main": "ref: refs/heads/other\n", "refs/heads/other": A}, A),
        ({"HEAD": BRANCH, "packed-refs": f"{A} refs/heads/main2\n^{B}\n"}, None),
        ({"HEAD": BRANCH}, None),
        ({"HEAD": BRANCH, "refs/heads/main": BRANCH}, None),
        ({"HEAD": BRANCH, "refs/heads/main": A[:-1]}, None),
        ({"HEAD": BRANCH, "refs/heads/main/x": A}, None),
        ({"HEAD": ""}, None),
        ({"HEAD": "ref: \0"}, None),
        ({"HEAD": b"\xff\xfe"}, None),
        ({"config": ""}, None),
    ],
)
def test_the_commit_is_found_where_git_puts_it(files, expected, tmp_path):
    laid_out(tmp_path / ".git", files)
    assert commit_of(tmp_path) == expected


def test_a_folder_that_is_no_checkout_has_no_commit(tmp_path):
    assert commit_of(tmp_path) is None and commit_of(tmp_path / "nowhere") is None


def test_the_commit_of_a_second_working_tree_is_its_own(tmp_path):
    main = {"HEAD": BRANCH, "refs/heads/main": A, "refs/heads/other": B}
    second = {"HEAD": "ref: refs/heads/other\n", "commondir": "../..\n"}
    laid_out(tmp_path / "first" / ".git", main | {f"worktrees/second/{name}": text for name, text in second.items()})
    laid_out(tmp_path / "second", {".git": f"gitdir: {tmp_path / 'first/.git/worktrees/second'}\n"})
    laid_out(tmp_path / "third", {".git": "gitdir: ../first/.git/worktrees/second\n"})
    assert commit_of(tmp_path / "first") == A
    assert commit_of(tmp_path / "second") == commit_of(tmp_path / "third") == B


@pytest.mark.parametrize(("commit", "expected"), [(A, f"{__version__}+6d25550"), (None, __version__)])
def test_the_revision_is_the_version_and_the_commit_if_there_is_one(commit, expected, tmp_path, monkeypatch):
    if commit:
        laid_out(tmp_path / ".git", {"HEAD": commit})
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    revision.cache_clear()
    try:
        assert revision() == expected
        laid_out(tmp_path / ".git", {"HEAD": B})
        assert revision() == expected, "a program that is running remains what it was"
    finally:
        revision.cache_clear()


@pytest.mark.subprocess
@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_git_says_the_same(tmp_path):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def git(*words):
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
        command = ["git", *identity, *words]
        return subprocess.run(command, cwd=tmp_path, env=variables, check=True, capture_output=True, text=True).stdout

    def said(folder: Path):
        return git("-C", str(folder), "rev-parse", "HEAD").strip()

    git("init", ".")
    assert commit_of(tmp_path) is None, "there is none yet"
    git("commit", "--allow-empty", "-m", "first")
    assert commit_of(tmp_path) == said(tmp_path)
    git("pack-refs", "--all")
    assert commit_of(tmp_path) == said(tmp_path)
    git("worktree", "add", "-b", "a/b", "second")
    git("-C", "second", "commit", "--allow-empty", "-m", "second")
    assert commit_of(tmp_path / "second") == said(tmp_path / "second") != said(tmp_path)
    git("checkout", "--detach")
    assert commit_of(tmp_path) == said(tmp_path)

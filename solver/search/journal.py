"""The journal of a depth-first search: what is finished, so that a search that was ended can go on from there.

A search is a sequence of *steps*: an iteration from one end, or a beam. Which step comes next follows from the results
of those before, never from the clock or from the number of threads. So a search that begins again takes the same steps
in the same order, and for those that its journal holds it has the results without searching. An iteration that is cut
is noted bundle by bundle, and only the bundles that are missing are searched.

The records of a step are, by the number of the step,

    what        what the step is: the bound, the end, the heuristic, how far to look back, or the width of a beam
    cut         how many subtrees an iteration is cut into, and how many bundles
    bundle      the number of a bundle: what it took and found
    result      what the whole step took and found

If the search asks for something else than what the journal has in its place, the journal is of another search: it was
made by a version that decides otherwise, or the way back has another database now. Then it is refused.

*When to write.* Threads note what they have finished; the thread that waits for them writes it, many times a second.
Nothing is written before the databases in use were compared with their checksums: what a damaged table says would
outlive it in the journal.

*If it cannot be written*, because the disk is full or somebody has removed it, the search ends as by a limit, since
what it goes on to find would be lost. But nothing that it has found by then is: the failure is noted, and the search is
stopped where it looks at its limits, or before its next step. An answer that is complete is given all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pdb_builder.base.errors import InputError

from .journal_file import JournalFile
from .journal_records import VERSION, check_version, known_steps
from .journal_words import difference, step_difference
from .stopping import Stopped

JOURNAL = "journal"  # the limit that is reached when what is found cannot be kept


class Step:
    """One step: what of it is finished, and notes of what gets finished now."""

    def __init__(self, number: int = 0, note: Callable[[dict], object] | None = None, path: Path | None = None) -> None:
        self.number, self._note, self.path = number, note, path
        self.what: dict | None = None
        self.cut: list[int] | None = None
        self.bundles: dict[int, dict] = {}
        self.result: dict | None = None

    def _add(self, **members: Any) -> None:
        if self._note:
            self._note({"step": self.number, **members})

    def begin(self, what: dict) -> None:
        """Note what the step is. Raises ``InputError`` if it is something else already."""
        if self.what is None:
            self.what = what
            self._add(what=what)
        elif self.what != what:
            remedy, looked = "", self.what.get("pruning", 0)
            if looked > what.get("pruning", 0) and self.what == what | {"pruning": looked}:
                remedy = "free memory to look back further, or "  # the decisions are the same, so that is what it lacks
            raise self._other(step_difference(self.what, what), remedy)

    def begin_bundles(self, paths: int, count: int) -> None:
        """Note how the step is cut. Raises ``InputError`` if it was cut otherwise."""
        if self.cut is None:
            self.cut = [paths, count]
            self._add(cut=self.cut)
        elif self.cut != [paths, count]:
            raise self._other(f"cut into {self.cut[1]} bundles instead of {count}")

    def _other(self, difference: str, remedy: str = "") -> InputError:
        return InputError(f"{self.path}: step {self.number + 1} is {difference}: {remedy}choose another journal")

    def impossible(self, what: str) -> InputError:
        """What the journal has is not of this search."""
        return self._other(f"of another search: {what} is not one of this one")

    def end_bundle(self, number: int, found: dict) -> None:
        """Note the end of a bundle."""
        self._add(bundle=number, **found)

    def end(self, result: dict) -> None:
        """Note the end of the step."""
        if self.result is None:
            self.result = result
            self._add(result=result)


class Journal:
    """The steps of a search, in a file or, by default, nowhere."""

    def __init__(self, file: JournalFile | None = None, trusted: Callable[[], bool] = lambda: True) -> None:
        """``trusted`` is whether what is found now may be written."""
        self.file, self.trusted = file, trusted
        self.steps = [] if file is None else steps_of(file.path, file.records, self._note)
        self.taken = 0
        self.failure: str | None = None  # why what was found could not be written
        self.waiting: SimpleQueue[dict] = SimpleQueue()  # noted by threads, not yet written

    @property
    def kept(self) -> bool:
        """Whether there is a file."""
        return self.file is not None

    def _note(self, record: dict) -> None:
        self.waiting.put(record)

    def step(self, what: dict, with_next: bool = False) -> Step:
        """The next step of the search. ``with_next`` is for one that is of use only together with the next.

        Raises ``InputError`` if the journal has another one in its place, and ``Stopped`` as ``look``.
        """
        if self.file is None:
            return Step()
        self.look()
        if self.taken == len(self.steps):
            self.steps.append(Step(self.taken, self._note, self.file.path))
        step = self.steps[self.taken]
        self.taken += 1
        step.begin(what)
        if with_next and not (self.taken < len(self.steps) and self.steps[self.taken].result):
            step.result = None
        return step

    def look(self) -> None:
        """Raise ``Stopped`` if something could not be written."""
        if self.failure is not None:
            raise Stopped(JOURNAL)

    def write(self) -> None:
        """Write what was noted, if it can be trusted. If that fails, ``failure`` says why, and no more is written."""
        if self.file is None or self.failure is not None:
            return
        try:
            if not self.waiting.empty() and self.trusted():
                self.file.append([self.waiting.get() for _ in range(self.waiting.qsize())])
            self.file.sync_if_due()
        except InputError as error:
            self.failure = str(error)

    def close(self) -> None:
        """Write the rest, and flush it to the disk. If that fails, ``failure`` says why."""
        if self.file is None:
            return
        try:
            self.write()
            if self.failure is None:
                self.file.look()
                self.file.sync()
        except InputError as error:
            self.failure = str(error)
        finally:
            self.file.close()


def open_journal(path: Path, of: dict, trusted: Callable[[], bool]) -> Journal:
    """The journal in a file: a new one, or that of the same search. Raises ``InputError`` if it is of another one."""
    header = {"journal": VERSION, **of}
    file = JournalFile(path, header)
    try:
        if not file.records:
            file.append([header])
            file.records = [header]
        check_version(path, file.records[0])
        if file.records[0] != header:
            other = difference(file.records[0], header)
            raise InputError(f"{path} is the journal of another search, {other}: choose another journal")
        return Journal(file, trusted)
    except BaseException:
        file.close()
        raise


def steps_of(path: Path, records: list[dict], note: Callable[[dict], object] | None = None) -> list[Step]:
    """The steps in the records of a journal. Raises ``InputError`` if they make no sense."""
    steps = []
    for number, known in enumerate(known_steps(path, records)):
        step = Step(number, note, path)
        step.what, step.cut, step.bundles, step.result = known.what, known.cut, known.bundles, known.result
        steps.append(step)
    return steps

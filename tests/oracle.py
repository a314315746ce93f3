"""The slow, obvious versions that everything fast is compared with.

They share no code with the packages under test, except ``Grid.neighbours`` and the canonical goal, which ``test_grid``
tests. Searches of many boards take a second, so the last few results are kept.
"""

from __future__ import annotations

from collections import deque
from functools import cache, lru_cache
from itertools import combinations, permutations
from math import factorial


@lru_cache(maxsize=8)
def pattern_distances(grid, tiles, blank):
    """0-1 breadth-first search: {(cells of the tiles, cell of the blank): fewest tile moves}. Not to be changed."""
    goal = grid.goal(blank)
    start = (tuple(goal.index(tile) for tile in tiles), blank)
    distances = {start: 0}
    queue = deque([start])
    done = set()
    while queue:
        state = queue.popleft()
        if state in done:
            continue
        done.add(state)
        cells, hole = state
        for cell in grid.neighbours[hole]:
            moved = tuple(hole if place == cell else place for place in cells)
            cost = moved != cells
            other = (moved, cell)
            if distances[state] + cost < distances.get(other, 1 << 30):
                distances[other] = distances[state] + cost
                (queue.append if cost else queue.appendleft)(other)
    return distances


def boards_after(grid, board):
    """The boards one move away."""
    hole = board.index(0)
    for cell in grid.neighbours[hole]:
        after = list(board)
        after[hole], after[cell] = after[cell], 0
        yield tuple(after)


def board_distances(grid, blank):
    """Breadth-first search over whole boards from the canonical goal: {board: moves to the goal}."""
    return distances_to(grid, grid.goal(blank))


@lru_cache(maxsize=8)
def solvable_boards(grid, blank):
    """All boards that lead to the canonical goal, in lexicographic order. Not to be changed."""
    return sorted(board_distances(grid, blank))


@lru_cache(maxsize=8)
def distances_to(grid, goal, most=None):
    """Breadth-first search over whole boards from any goal: {board: moves to the goal}, up to ``most`` moves.

    The nearest boards come first. The result is shared and must not be changed.
    """
    distances = {goal: 0}
    queue = deque([goal])
    while queue and distances[queue[0]] != most:
        board = queue.popleft()
        for other in boards_after(grid, board):
            if other not in distances:
                distances[other] = distances[board] + 1
                queue.append(other)
    return distances


def canonical(grid, board, goal):
    """The board with its tiles renumbered as the canonical goal numbers those of the goal, and the goal's blank."""
    blank = goal.index(0)
    number = dict(zip(goal, grid.goal(blank), strict=True))
    return tuple(number[tile] for tile in board), blank


def moves_between(grid, board, goal):
    """The length of a shortest solution."""
    board, blank = canonical(grid, board, goal)
    return board_distances(grid, blank)[board]


def count_shortest_solutions(grid, board, goal):
    """How many shortest solutions there are."""
    start, blank = canonical(grid, board, goal)
    distances = board_distances(grid, blank)

    @cache
    def count(board):
        nearer = (other for other in boards_after(grid, board) if distances[other] < distances[board])
        return sum(map(count, nearer)) if distances[board] else 1

    return count(start)


def all_footprints(cells, size):
    """All sets of cells in the order of the masks as integers."""
    return sorted(combinations(range(cells), size), key=lambda chosen: sum(1 << cell for cell in chosen))


def zones_of(grid, footprint):
    """The connected regions of free cells, by lowest cell."""
    free = set(range(grid.cells)) - set(footprint)
    zones = []
    while free:
        zone, todo = set(), [min(free)]
        while todo:
            cell = todo.pop()
            if cell in free and cell not in zone:
                zone.add(cell)
                todo += grid.neighbours[cell]
        free -= zone
        zones.append(zone)
    return zones


def arrangement_number(ordinals):
    """The number docs/format.md gives to an arrangement: tile t of the pattern at ``ordinals[t]``."""
    size = len(ordinals)
    lead, rest = ordinals[:4], ordinals[4:]
    merges = all_footprints(size, len(lead))

    def order(places):
        ranked = tuple(sorted(places).index(place) for place in places)
        return list(permutations(range(len(places)))).index(ranked)

    merge = merges.index(tuple(sorted(lead)))
    return (merge * factorial(len(rest)) + order(rest)) * factorial(len(lead)) + order(lead)


@lru_cache(maxsize=32)
def expected_tables(grid, tiles, blank):
    """The tables as docs/format.md describes them: blocks, {(block, arrangement): d}, {(footprint, arrangement): d}."""
    ranks = {footprint: rank for rank, footprint in enumerate(all_footprints(grid.cells, len(tiles)))}
    zones = {footprint: zones_of(grid, footprint) for footprint in ranks}
    first, firsts = 0, {}
    for footprint in ranks:
        firsts[footprint] = first
        first += len(zones[footprint])
    numbers, by_block, by_footprint = {}, {}, {}
    for (cells, hole), distance in pattern_distances(grid, tiles, blank).items():
        footprint = tuple(sorted(cells))
        zone = next(number for number, zone in enumerate(zones[footprint]) if hole in zone)
        ordinals = tuple(footprint.index(cell) for cell in cells)
        if ordinals not in numbers:
            numbers[ordinals] = arrangement_number(ordinals)
        arrangement = numbers[ordinals]
        by_block[firsts[footprint] + zone, arrangement] = distance
        key = ranks[footprint], arrangement
        by_footprint[key] = min(distance, by_footprint.get(key, distance))
    return first, by_block, by_footprint

"""What many tests need of boards: scrambles, and moves followed one by one."""

from .oracle import boards_after

DIRECTIONS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def scrambled(grid, goal, moves, chance):
    """A board some random moves from a goal. No move undoes the one before."""
    board, before = goal, None
    for _ in range(moves):
        options = [after for after in boards_after(grid, board) if after != before]
        board, before = chance.choice(options), board
    return board


def boards_along(grid, board, path):
    """The boards on the way of the blank, whose first cell is where it is. Every step must be a move."""
    assert board.index(0) == path[0]
    boards = [board]
    for cell in path[1:]:
        boards += [after for after in boards_after(grid, boards[-1]) if after[cell] == 0]
    assert len(boards) == len(path), "not every step is a move"
    return boards


def followed(grid, board, letters, of="tile"):
    """The board that letters lead to: each says where a tile goes, or the blank. Every one must be a move."""
    for letter in letters:
        down, right = DIRECTIONS[letter]
        sign = -1 if of == "tile" else 1  # a tile that goes up comes from below the blank
        row, col = divmod(board.index(0), grid.cols)
        row, col = row + sign * down, col + sign * right
        if grid.wrap:
            row, col = row % grid.rows, col % grid.cols
        assert 0 <= row < grid.rows and 0 <= col < grid.cols, "there is no such cell"
        (board,) = (after for after in boards_after(grid, board) if after[row * grid.cols + col] == 0)
    return board

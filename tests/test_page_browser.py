"""The page in a real browser: Chromium, driven by Playwright. ``make install`` and ``make test-page`` install them.

What the page shows is compared with the library. Scripts are forbidden to be made from text, by the page's own policy,
so these tests look and click like anybody else.
"""

import csv
import json
import re
import shutil
from urllib.parse import quote

import pytest

from pdb_builder import NAMED, Grid, Spec, open_database
from solver import goal_board, solve
from solver.heuristics import linear_conflict, manhattan, pattern_database

from .pages import serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next(filter(None, map(shutil.which, BROWSERS)), None)
try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    FOUND, REASON = None, "Playwright is not installed: run make install"
else:
    REASON = f"there is no browser ({', '.join(BROWSERS)}): run make test-page"
    expect.set_options(timeout=60_000)  # kernels may have to be compiled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.subprocess,
    pytest.mark.jit,
    pytest.mark.skipif(FOUND is None, reason=REASON),
]
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
FARTHEST = "0 12 9 13 15 11 10 14 3 7 2 5 4 8 6 1"  # 80 moves
HARD = "1 5 9 13 17 21 2 6 10 14 18 22 3 7 11 15 19 23 4 8 12 16 20 24 0"  # of 5x5, without a database
NEAR = "1 2 3 4 5 6 0 7 8"  # two moves
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory, database_of):
    folder = tmp_path_factory.mktemp("page")
    for name in ("3x3-4-4", "4x4-7-8"):
        spec = Spec(Grid.parse(name[:3]), NAMED[name])
        (folder / f"{spec.name}.h5").symlink_to(database_of(spec))
    with serving(folder) as served:
        served.folder = folder
        yield served


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=FOUND, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def tab(browser, server):
    """Opens a tab: ``tab("1 2 3 ...", wrap=1)`` shows a board. None of its scripts may fail."""
    contexts, faults = [], []

    def opened(board=None, context=None, **options):
        if context is None:
            settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
            contexts.append(browser.new_context(**settings | options.pop("settings", {})))
            context = contexts[-1]
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if is_fault(message) else None)
        parts = {"board": board.replace(" ", "."), **options} if board else {}
        link = "&".join(f"{name}={quote(str(value))}" for name, value in parts.items())
        page.goto(f"{server.address}#{link}")
        expect(page.locator("#board svg")).to_be_visible()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults


def is_fault(message):
    """Whether a message of the console is one that nobody expects: that a request was refused is said by the page."""
    return message.type == "error" and "status of 400" not in message.text


def board_of(page):
    """The board as a screen reader is told it."""
    rows = re.findall(r"Row \d+: ([^.]*)\.", page.locator("#board-text").inner_text())
    return " ".join(rows).replace("gap", "0")


def tile(page, number):
    return page.locator(f"[data-tile='{number}']")


def choose(page, name):
    page.get_by_role("tab", name=name).click()


# ---- play ---------------------------------------------------------------------------------------


def test_tiles_move_by_click_key_drag_and_touch_and_back(tab):
    page = tab(NEAR)
    tile(page, 7).click()
    assert board_of(page) == "1 2 3 4 5 6 7 0 8"
    page.keyboard.press("ArrowLeft")
    assert board_of(page) == "1 2 3 4 5 6 7 8 0"
    expect(page.locator("#fewest-number")).to_have_text("Solved")
    page.keyboard.press("ArrowLeft")  # no tile can go there
    assert board_of(page) == "1 2 3 4 5 6 7 8 0" and page.locator("#made").inner_text() == "2"
    page.get_by_role("button", name="Undo").click()
    assert board_of(page) == "1 2 3 4 5 6 7 0 8"
    page.keyboard.press("u")
    assert board_of(page) == NEAR
    tile(page, 8).click()  # two tiles are pushed
    assert board_of(page) == "1 2 3 4 5 6 7 8 0"
    box = tile(page, 6).bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] + box["height"] * 0.2, steps=3)
    page.mouse.up()
    assert board_of(page) == "1 2 3 4 5 6 7 8 0", "a little is not enough"
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 40, middle[1] + box["height"] * 0.6, steps=4)
    page.mouse.up()
    assert board_of(page) == "1 2 3 4 5 0 7 8 6"
    page.get_by_role("button", name="Start again").click()
    assert board_of(page) == NEAR
    phone = tab(NEAR, settings=PHONE)
    tile(phone, 7).tap()
    assert board_of(phone) == "1 2 3 4 5 6 7 0 8"


def test_boards_are_shuffled_by_seed_in_any_shape_with_any_goal(tab, run):
    page = tab(NEAR)
    for rows, cols, goal, wrap in ((3, 4, "last", False), (2, 5, "first", True), (10, 10, "spiral", False)):
        page.get_by_label("Rows").select_option(str(rows))
        page.get_by_label("Columns").select_option(str(cols))
        page.locator("#goal").select_option(goal)
        page.get_by_label("Seed").first.fill("7")
        page.get_by_label("Joined edges").set_checked(wrap)
        page.locator("#new").get_by_role("button", name="Shuffle").click()
        words = ["random", f"{rows}x{cols}", "--seed", "7", "--goal", goal, *["--wrap"] * wrap]
        expected = run(*words)[1].replace("/", " ").split()
        expect(page.locator("[data-tile]")).to_have_count(rows * cols - 1)
        assert board_of(page).split() == expected
    page.get_by_role("button", name="Show the goal").click()
    expect(page.locator("#fewest-words")).to_have_text("this is the goal")
    assert board_of(page).split() == [str(one) for one in goal_board(Grid(10, 10), "spiral")]


def test_tiles_slide_across_joined_edges(tab):
    page = tab("1 2 3 0 4 5", shape="2x3", wrap=1)
    tile(page, 5).click()  # from the last column to the first
    assert board_of(page) == "1 2 3 5 4 0"
    page.keyboard.press("ArrowRight")
    assert board_of(page) == "1 2 3 5 0 4"


def test_a_typed_board_is_used_or_refused_with_the_reason(tab):
    page = tab(NEAR)
    typed = page.get_by_label("Numbers row by row")
    typed.fill("1 2 3\n4 5 6\n7 8 8")
    page.get_by_role("button", name="Use this board").click()
    expect(page.locator("#typed-problem")).to_contain_text("Not a 3x3 board: repeated 8; no blank")
    assert board_of(page) == NEAR
    typed.fill("4, 5, 0; 1, 2, 3")
    page.get_by_role("button", name="Use this board").click()
    expect(page.locator("#typed-problem")).to_be_hidden()
    assert board_of(page) == "4 5 0 1 2 3"
    typed.fill("2 1 3 / 4 5 6 / 7 8 0")
    page.get_by_role("button", name="Use this board").click()
    expect(page.locator("#fewest-number")).to_have_text("None")
    expect(page.locator("#verdict")).to_contain_text("cannot be solved: exchange any two tiles")
    page.locator("#why summary").click()
    expect(page.locator("#why-lines")).to_contain_text("inversions stay even, as in the goal, which has 0; but here")


def test_a_link_holds_the_board(tab):
    page = tab(NEAR)
    page.keyboard.press("ArrowLeft")
    moved = board_of(page)
    expect(page).to_have_url(re.compile(re.escape(moved.replace(" ", "."))))
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#board svg")).to_be_visible()
    assert board_of(other) == moved


def test_a_broken_link_is_complained_of_and_the_skip_link_keeps_the_address(tab):
    page = tab("1 1 2 3")
    expect(page.locator("#trouble")).to_contain_text("Not a 2x2 board")
    expect(page).not_to_have_url(re.compile("1.1.2.3"))  # that of the board that is shown instead
    expect(page.locator("#trouble")).to_be_visible()
    address = page.url
    page.get_by_role("link", name="Skip the board").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panels")).to_be_focused()
    assert page.url == address
    page.get_by_label("Seed").first.fill("0x10")
    page.locator("#new").get_by_role("button", name="Shuffle").click()
    expect(page.locator("#trouble")).to_have_text("A seed is a whole number, got 0x10")
    page.get_by_label("Seed").first.fill("16")
    page.locator("#new").get_by_role("button", name="Shuffle").click()
    expect(page.locator("#trouble")).to_be_hidden()


def test_only_moves_by_hand_are_counted_and_undo_takes_a_jump_back(tab):
    page = tab("1 2 3 4 5 6 0 7 8")
    page.keyboard.press("ArrowRight")  # no tile can go there
    page.keyboard.press("ArrowDown")
    off, words, undo = board_of(page), page.locator("#fewest-words"), page.get_by_role("button", name="Undo")
    expect(page.locator("#fewest-number")).to_have_text("3")
    page.get_by_role("button", name="Play the way").click()
    page.get_by_label("Speed").fill("25")
    expect(words).to_have_text("this is the goal")
    assert page.locator("#made").inner_text() == "1"
    undo.click()
    assert board_of(page) == off
    expect(page.locator("#player-place")).to_have_text("move 0 of 3")
    page.get_by_role("button", name="To the goal").click()
    page.get_by_role("button", name="One move back").click()
    page.keyboard.press("ArrowLeft")
    expect(words).to_have_text("with the help of a solution")
    for _ in range(3):
        undo.click()
    assert board_of(page) == NEAR and page.locator("#made").inner_text() == "0"
    expect(undo).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(words).to_have_text("in 2 moves")


def test_the_fewest_moves_are_kept_up_and_a_hint_leads_to_the_goal(tab, server):
    page = tab(FARTHEST)
    number, undo = page.locator("#fewest-number"), page.get_by_role("button", name="Undo")
    expect(number).to_have_text("80")
    expect(page.locator("#fewest-words")).to_have_text("moves, proven fewest")
    page.get_by_role("button", name="Hint").click()
    hinted = page.locator(".tile.next")
    expect(hinted).to_have_count(1)
    hinted.click()
    expect(number).to_have_text("79")
    expect(hinted).to_have_count(0)
    undo.click()
    expect(number).to_have_text("80")
    for key in ("ArrowUp", "ArrowLeft", "ArrowUp", "ArrowRight"):  # off the way that was found
        page.keyboard.press(key)
    board = board_of(page)
    assert board != FARTHEST
    expect(number).to_have_text(str(solve(board, folder=server.folder).length))


def test_a_board_too_hard_to_prove_shows_what_is_known(tab):
    page = tab(HARD)
    expect(page.locator("#fewest-number")).to_have_text(re.compile(r"^\d+–\d+$"))
    least, most = map(int, page.locator("#fewest-number").inner_text().split("–"))
    assert manhattan.prepare(Grid(5, 5), 24).measure(tuple(map(int, HARD.split())))[0] <= least < most
    page.get_by_role("button", name="Play the way").click()
    page.get_by_label("Speed").fill("25")
    expect(page.locator("#player-place")).to_have_text(f"move {most} of {most}")
    expect(page.locator("#fewest-number")).to_have_text("Solved")


# ---- solve --------------------------------------------------------------------------------------


def test_the_farthest_board_is_solved_and_played(tab, server):
    page = tab(FARTHEST)
    choose(page, "Solve")
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.locator("#search-state")).to_have_text("80 moves, proven shortest")
    expected = solve(FARTHEST, folder=server.folder)
    assert page.locator("#search-moves").inner_text() == expected.moves
    facts = dict(zip(*(page.locator(f"#search-facts {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
    assert facts["Nodes generated"] == f"{expected.generated:,}" and facts["Nodes expanded"] == f"{expected.expanded:,}"
    assert facts["Method"] == "ida-star with pdb:4x4-7-8"
    boards = [" ".join(map(str, board)) for board in expected.boards()]
    place = page.locator("#player-place")
    page.get_by_role("button", name="One move on").click()
    assert (board_of(page), place.inner_text()) == (boards[1], "move 1 of 80")
    page.get_by_role("button", name="One move back").click()
    assert board_of(page) == boards[0]
    page.get_by_label("Move of the solution").fill("77")
    assert board_of(page) == boards[77]
    page.get_by_label("Speed").fill("25")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(place).to_have_text("move 80 of 80")
    assert board_of(page) == boards[80]
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Pause").click()
    assert board_of(page) in boards[:40]


def test_a_long_search_tells_how_far_it_is_and_can_be_stopped(tab):
    page = tab(HARD)
    choose(page, "Solve")
    page.get_by_label("Heuristic").select_option("manhattan")
    page.get_by_label("Algorithm").select_option("a-star")
    page.get_by_role("button", name="Solve", exact=True).click()
    facts = page.locator("#search-facts")
    for name in ("Lower bound", "Best so far", "Nodes generated", "Nodes per second", "In memory"):
        expect(facts).to_contain_text(name)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#search-state")).to_have_text(re.compile(r"^At least \d+ moves: stopped$"))
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()


def test_what_is_refused_says_why(tab):
    page = tab(NEAR)
    choose(page, "Solve")
    page.get_by_label("Heuristic").select_option("inversions")
    page.get_by_label("Algorithm").select_option("ida-star")
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.locator("#search-problem")).to_contain_text("Inversions is inadmissible, so ida-star cannot guarantee")
    page.get_by_label("Algorithm").select_option("weighted-a-star")
    page.get_by_label("Weight", exact=True).fill("0.5")
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.locator("#search-problem")).to_contain_text("Weight must be between 1 and 1000, got 0.5")
    page.get_by_label("Algorithm").select_option("bfs")
    expect(page.get_by_label("Heuristic")).to_be_disabled()


# ---- look inside --------------------------------------------------------------------------------


def test_inside_shows_what_the_library_says_move_by_move(tab, server):
    start = "8 6 7 2 5 4 3 0 1"
    page = tab(start)
    choose(page, "Look inside")
    grid, database = Grid(3, 3), open_database(server.folder / "3x3-4-4.h5")
    looked = pattern_database.prepare(grid, 0, database)
    page.locator("#board").focus()
    for key in (None, "ArrowRight", "ArrowDown", "ArrowLeft"):
        before = board_of(page)
        if key:
            page.keyboard.press(key)
            assert board_of(page) != before
        board = tuple(9 * (one == 0) or one for one in map(int, board_of(page).split()))
        turned = tuple((9 - one) % 9 for one in reversed(board))  # the goal 0 1 ... 8, by half a turn
        parts = looked.measure(turned)
        sums = page.locator("#sums strong")
        expect(sums).to_have_text([str(part) for part in parts])
        values = page.locator("#values dd")
        expected = [*(kind.prepare(grid, 0).measure(turned)[0] for kind in (manhattan, linear_conflict)), max(parts)]
        expect(values).to_have_text([str(value) for value in expected])
        distances = [int(text) for text in page.locator("#patterns strong").all_inner_texts()]
        assert sum(distances) == max(parts) and len(distances) == 2
    page.get_by_role("radio", name="Mirrored sum").click()
    marks = {number: tile(page, number).locator(".tile-mark").text_content() for number in range(1, 9)}
    rows = page.locator("#patterns .tiles").all_inner_texts()
    for letter, row in zip("AB", rows, strict=True):
        assert [number for number in marks if marks[number] == letter] == [int(one) for one in row.split()[1:]]
    expect(page.locator("#histogram div")).to_have_count(len(database.tables[0].counts))
    expect(page.locator("#histogram .here")).to_have_count(1)
    choose(page, "Play")
    assert tile(page, 1).locator(".tile-mark").text_content() == ""


def test_without_a_database_the_page_says_how_to_build_one(tab):
    page = tab("1 2 3 0 4 5", shape="2x3")
    choose(page, "Look inside")
    expect(page.locator("#advice")).to_contain_text("build one with 'pdb-builder build 2x3")
    expect(page.locator("#values dd")).to_have_text(["2", "2", "–"])


# ---- compare ------------------------------------------------------------------------------------


def test_a_comparison_is_that_of_the_command_line(tab, server, tmp_path, run):
    page = tab(NEAR)
    choose(page, "Compare")
    page.get_by_label("random ones of its shape").check()
    page.get_by_label("How many").fill("4")
    page.locator("#compare-seed").fill("3")
    page.evaluate(LISTEN)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#comparison-state")).to_have_text("12 searches done")
    assert page.evaluate("window.heard") == ["The comparison begins", "12 searches done"]
    expect(page.locator("#bars .method")).to_have_count(3)
    widths = [one["width"] for one in (bar.bounding_box() for bar in page.locator("#bars .bar").all())]
    assert widths == sorted(widths, reverse=True), "better heuristics have shorter bars"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    waiting.value.save_as(tmp_path / "page.csv")
    words = ("compare", "--random", "3x3", "-n", "4", "--seed", "3", "--folder", str(server.folder))
    code, printed, _ = run(*words, "--csv", str(tmp_path / "command.csv"))
    assert code == 0

    def lasting(name):
        with open(tmp_path / name, newline="") as file:
            return sorted(tuple(list(row.values())[:10]) for row in csv.DictReader(file))

    assert lasting("page.csv") == lasting("command.csv")
    rows = [" ".join(row.split()) for row in page.locator("#comparison-table tbody tr").all_inner_texts()]
    for shown, line in zip(rows, printed.splitlines()[2:], strict=True):
        assert shown.split()[:5] == line.split()[:5], "all but the times"


def test_a_comparison_of_another_board_is_given_up(tab):
    page = tab(HARD)
    choose(page, "Compare")
    page.get_by_role("button", name="Compare", exact=True).click()
    stop = page.locator("#compare-stop")
    expect(stop).to_be_enabled()
    page.locator("#shuffle").click()
    expect(page.locator("#comparison")).to_be_hidden()
    expect(stop).to_be_disabled()


# ---- several tabs, and who reads the page -------------------------------------------------------


def test_tabs_do_not_disturb_each_other_and_a_closed_one_ends_its_search(tab, server):
    busy = [tab(HARD) for _ in range(2)]
    for page in busy:
        choose(page, "Solve")
        page.get_by_label("Heuristic").select_option("manhattan")
        page.get_by_role("button", name="Solve", exact=True).click()
        expect(page.locator("#search-facts")).to_contain_text("Nodes generated")
    other = tab(NEAR)
    expect(other.locator("#fewest-words")).to_contain_text(re.compile("counting|waiting"))
    tile(other, 7).click()
    assert board_of(other) == "1 2 3 4 5 6 7 0 8"
    expect(busy[0].locator("#search-state")).to_have_text("Searching")
    busy[0].close()
    expect(other.locator("#fewest-number")).to_have_text("1")
    expect(busy[1].locator("#search-state")).to_have_text("Searching")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_a_name_enough_contrast_and_room_on_a_phone(tab, scheme):
    page = tab("8 6 7 2 5 4 3 0 1", settings=PHONE | {"color_scheme": scheme})
    expect(page.locator("#fewest-number")).to_have_text("31")
    for name in ("Play", "Solve", "Look inside", "Compare"):
        choose(page, name)
        if name == "Solve":
            page.get_by_label("Heuristic").select_option("manhattan")
            page.get_by_role("button", name="Solve", exact=True).click()
            expect(page.locator("#iterations")).to_be_visible()
        elif name == "Look inside":
            expect(page.locator("#histogram .here")).to_have_count(1)
        elif name == "Compare":
            page.get_by_role("button", name="Compare", exact=True).click()
            expect(page.locator("#comparison-state")).to_have_text("3 searches done")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"], name
        nameless = [line for line in page.locator("body").aria_snapshot().splitlines() if NAMELESS.fullmatch(line)]
        assert not nameless, name
        poor = [one for one in page.evaluate(CONTRASTS) if one["ratio"] < 4.5]
        assert not poor, (name, json.dumps(poor))


def test_nothing_is_wider_than_a_small_phone(tab):
    page = tab(NEAR, settings=PHONE | {"viewport": {"width": 320, "height": 568}})
    expect(page.locator("#fewest-number")).to_have_text("2")
    page.get_by_role("button", name="Play the way").click()
    for name in ("Play", "Solve", "Look inside", "Compare"):
        choose(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, name


# Notes what is read out to whoever cannot see the page.
LISTEN = """() => {
  window.heard = [];
  const note = (changes) => changes.forEach(({ target }) => window.heard.push(target.textContent));
  for (const region of document.querySelectorAll("[role=status]")) {
    new MutationObserver(note).observe(region, { childList: true, characterData: true, subtree: true });
  }
}"""
NAMELESS = re.compile(r" *- (button|textbox|combobox|checkbox|radio|slider|tab|link)( \[.*\])?:?")
# The contrast of every text with what is behind it, as far as colours are not mixed.
CONTRASTS = """() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => [red, green, blue].map((part) => {
    part /= 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, style = getComputedStyle(element);
    const skipped = "noscript, option, .unseen, .skip, :disabled, svg, script";
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest(skipped)) continue;
    let behind = element;
    while (parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const ground = getComputedStyle(behind).backgroundColor;
    const [more, less] = [light(parts(style.color)), light(parts(ground))].sort((a, b) => b - a);
    found.push({ text: walker.currentNode.textContent.trim().slice(0, 40), ratio: (more + 0.05) / (less + 0.05) });
  }
  return found;
}"""


def test_the_page_is_used_by_keyboard_alone(tab):
    page = tab(NEAR)
    page.get_by_role("tab", name="Play").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Solve")).to_be_focused()
    expect(page.locator("#panel-solve")).to_be_visible()
    assert board_of(page) == NEAR, "arrows in the tabs move no tile"
    page.keyboard.press("Tab")
    expect(page.get_by_label("Algorithm")).to_be_focused()
    page.locator("#solve-seconds").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#search-state")).to_have_text("2 moves, proven shortest")
    page.locator("#board").focus()
    page.keyboard.press("ArrowLeft")
    assert board_of(page) == "1 2 3 4 5 6 7 0 8"
    expect(page.locator("#said")).to_have_text("Tile 7 left.")

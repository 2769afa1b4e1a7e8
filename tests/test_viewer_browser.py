"""The page in a real Chromium: what it draws is compared with the rows, pixel by pixel.

Leaving it out takes --without-browser.
"""

import base64
import json
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from xml.etree import ElementTree

import numpy as np
import pytest
from viewer_helpers import viewing

from eller_stream import EllerStream, MazeFile, MazeRows, MazeSpec, MazeWriter, open_stream, tree_path
from eller_stream.net.limits import ServerLimits

pytestmark = pytest.mark.browser

FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1100,760"),
    *("--js-flags=--expose-gc", "--enable-precise-memory-info"),
]
IN_PAGE = """
const [words, done] = arguments;
import("/page.js")
  .then(async ({ page }) => { BODY })
  .then((value) => done({ value: value ?? null }), (error) => done({ error: String(error.stack) }));
"""
DRAWN = """
const settled = () => !page.drawing && page.view.rows[1] > page.view.rows[0]
  && page.rows.missing(page.view.row, page.view.rows[1] - page.view.row).length === 0;
for (let i = 0; i < 400 && !settled(); i++) await new Promise((done) => setTimeout(done, 25));
if (!settled()) throw new Error("the rows have not come: " + document.getElementById("said").textContent);
await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const { view, context, colours } = page.screen;
const [width, height] = view.size;
const bytes = context.getImageData(0, 0, width, height).data;
let text = "";
for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
const { row, cell, wall, left, columns } = view;
const place = { row, stop: view.rows[1], top: view.y(row), left, cell, wall, columns };
return { pixels: btoa(text), width, height, ...place, colours: colours.pixels };
"""


class Browser:
    """Chromium with the page in it."""

    def __init__(self, folder):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in [*FLAGS, f"--user-data-dir={folder}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = Service(shutil.which("chromedriver") or "chromedriver")
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(30)

    def open(self, url):
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get(url)
        self.url = url
        self.until("return page.spec !== null")

    def run(self, body, **words):
        """Return what some code gives that knows `page` and `words`."""
        came = self.driver.execute_async_script(IN_PAGE.replace("BODY", body), words)
        assert "error" not in came, came["error"]
        return came["value"]

    def until(self, body, seconds=15):
        end = time.monotonic() + seconds
        while not (value := self.run(body)):
            assert time.monotonic() < end, body
            time.sleep(0.05)
        return value

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def fill(self, **values):
        """Type into the form and send it."""
        for name, value in values.items():
            field = self.find(f"#spec [name={name}]")
            if field.tag_name == "select":
                field.find_element("css selector", f"[value={value}]").click()
            else:
                field.clear()
                field.send_keys(value)
        self.find("#spec button").click()
        words = json.dumps(
            {name: str(value) for name, value in values.items() if name in ("width", "seed", "algorithm")}
        )
        self.until(f"return Object.entries({words}).every(([name, value]) => String(page.spec[name]) === value)")

    def jump(self, row):
        field = self.find("#row")
        field.clear()
        field.send_keys(str(row), "\n")

    def actions(self):
        from selenium.webdriver import ActionChains

        return ActionChains(self.driver, duration=20)

    def wheel(self, down, times=1, right=0):
        from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

        origin = ScrollOrigin.from_element(self.find("#maze"))
        for _ in range(times):
            self.actions().scroll_from_origin(origin, right, down).perform()

    def click_cell(self, row, column):
        """Click into the middle of a cell that is seen."""
        x, y, width, height = self.run(
            """const { view, canvas } = page;
            const place = [view.left + (words.column + 0.6) * view.cell, view.y(words.row) + 0.6 * view.cell];
            return [...place.map((n) => n / devicePixelRatio), canvas.clientWidth, canvas.clientHeight];""",
            row=row,
            column=column,
        )
        to = round(x - width / 2), round(y - height / 2)  # from the canvas's middle
        self.actions().move_to_element_with_offset(self.find("#maze"), *to).click().perform()

    def drawn(self):
        return Drawn(self.run(DRAWN))

    def close(self):
        self.driver.quit()


class Drawn:
    """What stands on the canvas, and where."""

    def __init__(self, told):
        self.__dict__.update(told)
        data = np.frombuffer(base64.b64decode(told["pixels"]), np.uint8)
        self.pixels = data.view("<u4").reshape(self.height, self.width)

    def at(self, row, column, down, right):
        """Return the pixel so far down and right of the upper left end of a cell's walls; None if not seen."""
        y = self.top + (row - self.row) * self.cell + down
        x = self.left + column * self.cell + right
        return int(self.pixels[y, x]) if 0 <= y < self.height and 0 <= x < self.width else None

    def check(self, spec):
        """Assert that the cells and walls are those of the spec's rows; return how many pixels were compared."""
        first = max(0, self.row - 1)
        stream = open_stream(spec)
        stream.seek(first)
        block = stream.read(self.stop - first)
        inner, edge = self.wall + (self.cell - self.wall) // 2, self.wall // 2
        wanted, compared = Expected(block), 0
        for row in range(self.row, block.stop):
            for column in range(spec.width):
                ground, west, north = wanted.at(row, column)
                for down, right, colour in [(inner, inner, ground), (inner, edge, west), (edge, inner, north)]:
                    pixel = self.at(row, column, down, right)
                    assert pixel in (None, self.colours.get(colour, pixel)), (row, column, down, right)
                    compared += pixel is not None
        return compared


class Expected:
    """The names of the colours of a block's cells and of what is between them."""

    def __init__(self, block):
        self.start = block.start
        self.east, self.south = (bits(plane, block.width) for plane in (block.east, block.south))
        self.rock = np.zeros_like(self.east) if block.floor is None else ~bits(block.floor, block.width)

    def at(self, row, column):
        """Return the colours of a cell, of what is west of it, and of what is north; None for what the block lacks."""
        i = row - self.start
        ground = "rock" if self.rock[i, column] else "paper"
        west = self.between(self.east, (i, column - 1), (i, column)) if column else "wall"
        north = None if self.start else "wall"
        if i:
            north = self.between(self.south, (i - 1, column), (i, column))
        return ground, west, north

    def between(self, passages, first, second):
        if passages[first]:
            return "paper"
        return "rock" if self.rock[first] and self.rock[second] else "wall"


def bits(plane, width):
    return np.unpackbits(plane, axis=1, count=width, bitorder="little").astype(np.bool_)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@contextmanager
def shown(*words):
    """Give the address that `eller-stream view` prints."""
    command = [sys.executable, "-m", "eller_stream", "view", "--no-browser", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http://\S+", process.stderr.readline())[0]
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address():
    with shown() as url:
        yield url


@pytest.fixture
def page(chromium, address):
    """The page, opened anew; at the end it has said no error and asked no other host."""
    chromium.open(address)
    yield chromium
    check_quiet(chromium)


def check_quiet(browser):
    assert browser.driver.get_log("browser") == []
    asked = []
    for entry in browser.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
        if message["method"] == "Network.webSocketCreated":
            asked.append(message["params"]["url"])
    others = [url for url in asked if not url.replace("ws:", "http:").startswith((browser.url, "blob:" + browser.url))]
    assert [url for url in others if url != "about:blank"] == []
    assert any(url.startswith("ws:") for url in asked)


# ---- what is drawn ---------------------------------------------------------------------------


def test_what_it_draws_are_the_rows(page):
    page.fill(width="150", seed="7", loops="0.05", braid="0.5")
    spec = MazeSpec(150, seed=7, loops=0.05, braid=0.5)
    for zoom in (2, 3, 16, 40):
        page.run("page.zoomTo(words.zoom, 0, 0)", zoom=zoom)
        assert page.drawn().check(spec) > 800
        page.run("page.scroll(37, 1234)")
        assert page.drawn().check(spec) > 800


def test_every_algorithm(page):
    for algorithm in ("dfs", "prim", "wilson", "random_walk"):
        page.fill(algorithm=algorithm, width="61", seed="3")
        spec = MazeSpec(61, algorithm=algorithm, seed=3)
        assert page.drawn().check(spec) > 2000
        page.jump(2**33 + 60)
        drawn = page.drawn()
        assert (drawn.row, drawn.check(spec) > 2000) == (2**33 + 60, True)
    page.fill(algorithm="uniform", width="20", seed="3")
    assert page.drawn().check(MazeSpec(20, algorithm="uniform", seed=3)) > 1000


def test_a_random_walk_map_with_all_its_options(page):
    page.fill(algorithm="random_walk", width="50", height="40", band="40", max_tunnels="60", max_length="9", seed="5")
    spec = MazeSpec(50, algorithm="random_walk", height=40, band=40, max_tunnels=60, max_length=9, seed=5)
    assert MazeSpec.from_data(page.run("return { ...page.spec, seed: String(page.spec.seed) }")) == spec
    assert page.drawn().check(spec) > 2000
    page.wheel(5000)
    drawn = page.drawn()
    assert (drawn.stop, drawn.check(spec) > 2000) == (40, True)


def test_widths(page):
    for width in (1, 2, 63, 64, 65, 5000):
        page.fill(width=str(width), seed="18446744073709551615")
        page.wheel(900, right=100_000)
        drawn = page.drawn()
        assert drawn.left + drawn.columns * drawn.cell + drawn.wall <= drawn.width
        assert drawn.check(MazeSpec(width, seed=2**64 - 1)) >= 60


# ---- moving about ----------------------------------------------------------------------------


def memory(page):
    """Return the bytes that the page's script holds after the garbage is gone."""
    page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    heap = page.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})
    return heap["usedSize"] + heap.get("backingStorageSize", 0)


def test_it_scrolls_10_000_rows_in_bounded_memory(page):
    page.fill(width="1000", seed="11")
    spec = MazeSpec(1000, seed=11)
    page.wheel(4000, times=4)
    assert page.drawn().check(spec) > 2000
    before = memory(page)
    while page.run("return page.view.row") < 30_000:
        page.wheel(16_000, times=4)
        page.until("return page.rows.missing(page.view.row, 10).length === 0")
        assert page.run("return page.rows.size <= page.capacity")
    assert memory(page) - before < 500_000
    assert page.drawn().check(spec) > 2000
    page.wheel(-4000, times=2)
    assert page.drawn().check(spec) > 2000


def test_it_jumps_to_row_10_to_the_12(page):
    page.fill(width="60", seed="11")
    page.jump("1,000,000,000,000")
    drawn = page.drawn()
    assert drawn.row == 10**12
    assert drawn.check(MazeSpec(60, seed=11)) > 2000
    assert page.text("#status").startswith("Rows 1,000,000,000,000 to 1,000,000,000,0")
    page.jump(2**48 - 1)
    assert page.drawn().stop == 2**48
    assert page.drawn().check(MazeSpec(60, seed=11)) > 2000
    page.jump("nonsense")
    assert page.text("#said").startswith("A row is a whole number from 0 to 281,474,976,710,655")


def test_keys(page):
    from selenium.webdriver import Keys

    canvas = page.find("#maze")
    press = canvas.send_keys
    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert page.drawn().row == 3
    press(Keys.PAGE_DOWN)
    assert page.drawn().row > 20
    press(Keys.HOME)
    assert page.drawn().row == 0
    seed = page.run("return String(page.spec.seed)")
    press("n")
    assert page.run("return String(page.spec.seed)") != seed
    press("-" * 40)
    assert page.drawn().cell == 2
    press("+" * 40)
    assert page.drawn().cell == 40
    assert page.driver.switch_to.active_element == canvas
    page.fill(width="9", height="500", seed="1")
    page.find("#maze").send_keys(Keys.END)
    assert page.drawn().stop == 500
    assert page.drawn().check(MazeSpec(9, height=500, seed=1)) > 50


def test_a_drag_and_a_wheel_that_zooms(page):
    canvas = page.find("#maze")
    page.actions().move_to_element(canvas).click_and_hold().move_by_offset(0, -160).release().perform()
    assert page.run("return page.path.start") is None
    assert page.drawn().row == 10
    page.run(
        """page.canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, ctrlKey: true, cancelable: true }))"""
    )
    assert page.drawn().cell > 20


def test_touch_drags_and_pinches(page):
    def touch(kind, *points):
        points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (300, 500))
    for y in (450, 400, 340):
        touch("touchMove", (300, y))
    touch("touchEnd")
    assert page.drawn().row == 10
    cell = page.drawn().cell
    touch("touchStart", (300, 300), (300, 400))
    for away in (20, 40, 60):
        touch("touchMove", (300, 300 - away), (300, 400 + away))
    touch("touchEnd")
    assert page.drawn().cell > 1.5 * cell


def test_a_server_that_gave_the_page_up_is_asked_again(chromium):
    with viewing(limits=ServerLimits(idle=0.3)) as viewer:
        chromium.open(viewer.url)
        chromium.fill(width="60", seed="2")
        chromium.drawn()
        chromium.until("return page.source.socket === null")
        chromium.jump(10**6)
        assert chromium.drawn().check(MazeSpec(60, seed=2)) > 2000
        check_quiet(chromium)


def test_a_server_that_dies_and_comes_again(chromium):
    with shown() as url:
        chromium.open(url)
        chromium.fill(width="60", seed="2")
        chromium.drawn()
    chromium.until("return document.getElementById('said').textContent === 'The connection to the server is lost.'")
    chromium.jump(10**6)
    with shown("--port", url.rstrip("/").rpartition(":")[2]):
        assert chromium.drawn().check(MazeSpec(60, seed=2)) > 2000
        assert chromium.text("#said") == ""
    chromium.driver.get_log("browser")  # which tells that connections were refused


def test_what_the_server_refuses_is_said(page):
    page.fill(width="64", key_interval="0", seed="1")
    page.jump(10**12)
    page.until("return document.getElementById('said').textContent.includes('would be carved on the way there')")
    page.find("#new").click()
    assert page.drawn().row == 0


# ---- mazes, links, files ---------------------------------------------------------------------


def test_a_new_maze_and_a_link_to_it(page):
    page.fill(width="60", seed="18446744073709551615", p_east="0:0.5,100:0.7", height="2000")
    spec = MazeSpec(60, seed=2**64 - 1, p_east=[(0, 0.5), (100, 0.7)], height=2000)
    page.jump(90)
    page.find("#share").click()
    page.until("return document.getElementById('said').textContent.includes('link')")
    link = page.driver.current_url
    page.find("#new").click()
    seeds = {page.run("return String(page.spec.seed)") for _ in range(2)}
    assert len(seeds) == 1
    assert seeds != {str(2**64 - 1)}
    page.driver.refresh()
    assert {page.until("return page.spec && String(page.spec.seed)")} == seeds
    page.driver.get("about:blank")
    page.driver.get(link)
    drawn = page.drawn()
    assert drawn.row == 90
    assert drawn.check(spec) > 2000
    assert page.find("#spec [name=p_east]").get_attribute("value") == "0:0.5,100:0.7"


@pytest.mark.parametrize("fragment", ["nonsense", "e30", "A" * 100_000])
def test_a_link_that_holds_no_maze(chromium, address, fragment):
    chromium.open(f"{address}#{fragment}")
    assert chromium.text("#said").startswith("the link")
    assert chromium.drawn().row == 0


def test_what_the_form_cannot_have_is_said_in_the_page(chromium, address):
    chromium.open(address)
    chromium.find("#spec [name=width]").clear()
    chromium.find("#spec [name=width]").send_keys("0")
    chromium.find("#spec button").click()
    chromium.until("return document.getElementById('spec-error').textContent.includes('width is from 1')")


@pytest.mark.parametrize("first_row", [0, 5000])
def test_a_file(chromium, tmp_path, first_row):
    stream = EllerStream(60, seed=9, height=9000)
    stream.seek(first_row)
    with MazeWriter(tmp_path / "a.emz", stream) as writer:
        writer.write(9000 - first_row)
    with shown(tmp_path / "a.emz") as url:
        chromium.open(url)
        assert chromium.drawn().row == first_row
        assert chromium.drawn().check(stream.spec) > 1900
        assert "a.emz" in chromium.text("#status")
        chromium.jump(8999)
        drawn = chromium.drawn()
        assert drawn.stop == 9000
        assert drawn.check(stream.spec) > 2000
        chromium.click_cell(8999, 0)
        chromium.click_cell(8980, 50)
        chromium.until("return page.path.cells.length > 0")
        with MazeFile(tmp_path / "a.emz") as maze:
            rows = MazeRows(60, first_row, 9000, maze.read, 1024)
            assert chromium.run("return page.path.cells") == list(map(list, tree_path(rows, (8999, 0), (8980, 50))))
        check_quiet(chromium)


def saved(page, folder, button, ending):
    """Press a button that saves, and return the file."""
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    page.drawn()
    page.find(button).click()
    end = time.monotonic() + 10
    while not (files := list(folder.glob(f"*{ending}"))):
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.2)
    return files[0]


def test_png(page, tmp_path):
    page.fill(width="20", seed="1")
    file = saved(page, tmp_path, "#png", ".png")
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    drawn = page.drawn()
    assert int.from_bytes(data[16:20], "big") == 20 * drawn.cell + drawn.wall
    assert int.from_bytes(data[20:24], "big") == drawn.height
    assert file.name == "maze-eller-20-1-row-0.png"


def test_svg(page, tmp_path):
    page.fill(width="20", height="30", seed="1")
    root = ElementTree.parse(saved(page, tmp_path, "#svg", ".svg")).getroot()
    path = root.find("{http://www.w3.org/2000/svg}path").get("d")
    walls = [tuple(map(int, wall)) for wall in re.findall(r"M(\d+) (\d+)v10(?!\d)", path)]
    east = EllerStream(20, seed=1, height=30).read(30)
    closed = {(10 * (c + 1), 10 * r) for r in range(30) for c in range(19) if not east[r].east[c]}
    assert set(walls) == closed
    assert root.get("viewBox") == "-1 -1 202 302"


# ---- sets, step by step ----------------------------------------------------------------------


def joined(numbers, east):
    for column, is_open in enumerate(east[:-1]):
        if is_open:
            low, high = sorted(numbers[column : column + 2])
            numbers = [low if number == high else number for number in numbers]
    return numbers


def test_sets_in_colour_are_the_streams_sets(page):
    page.fill(width="40", seed="42", loops="0.1")
    page.find("#sets").click()
    page.until("return page.sets.numbers.has(30)")
    drawn = page.drawn()
    stream = EllerStream(40, seed=42)
    for row in range(30):
        numbers = joined(stream.sets.tolist(), next(stream).east.tolist())
        colours = [drawn.at(row, column, drawn.cell // 2, drawn.cell // 2) for column in range(40)]
        pairs = set(zip(numbers, colours, strict=True))
        assert len(pairs) == len(set(numbers)) == len(set(colours))
    page.find("#sets").click()
    assert page.drawn().check(MazeSpec(40, seed=42, loops=0.1)) > 1000


def test_play_pause_and_single_steps(page):
    page.fill(width="40", seed="42")
    page.jump(500)
    for _ in range(3):
        page.find("#step").click()
    assert page.run("return page.player.limit") == 503
    page.until("return page.sets.numbers.has(502)")
    drawn = page.drawn()
    assert drawn.at(502, 5, drawn.cell // 2, drawn.cell // 2) not in (drawn.colours["paper"], drawn.colours["outside"])
    assert drawn.at(503, 5, drawn.cell // 2, drawn.cell // 2) == drawn.colours["outside"]
    page.run("page.player.perSecond = 60")
    page.find("#play").click()
    assert page.text("#play") == "Pause"
    page.until("return page.player.limit > 560")
    page.find("#play").click()
    limit = page.run("return page.player.limit")
    time.sleep(0.2)
    assert page.run("return page.player.limit") == limit
    assert page.text("#play") == "Play"
    low, high = page.run("return page.view.rows")
    assert low < limit <= high
    page.find("#sets").click()
    assert page.drawn().check(MazeSpec(40, seed=42)) > 1000


def test_playing_ends_with_the_maze(page):
    page.fill(width="10", height="5", seed="42")
    page.run("page.player.perSecond = 60; page.togglePlay()")
    page.until("return !page.player.playing")
    assert page.run("return page.player.limit") == 5
    page.until("return document.getElementById('play').textContent === 'Play'")


# ---- the path --------------------------------------------------------------------------------


def test_a_path_between_two_clicks(page):
    page.fill(width="60", seed="42")
    page.click_cell(3, 50)
    assert "Click the end" in page.text("#path-text")
    page.click_cell(30, 7)
    page.until("return page.path.cells.length > 0")
    cells = list(tree_path(MazeRows.of(EllerStream(60, seed=42).read(1024)), (3, 50), (30, 7)))
    assert page.run("return page.path.cells") == list(map(list, cells))
    assert page.text("#path-text") == f"{len(cells) - 1} steps, the only way."
    drawn = page.drawn()
    middle = drawn.wall + (drawn.cell - drawn.wall) // 2
    pixels = [drawn.at(row, column, middle, middle) for row, column in cells[1:-1]]
    assert {pixel for pixel in pixels if pixel is not None} == {drawn.colours["path"]}
    assert drawn.at(3, 50, middle, middle) == drawn.colours["start"]
    assert drawn.at(30, 7, middle, middle) == drawn.colours["end"]
    page.find("#clear").click()
    assert page.drawn().check(MazeSpec(60, seed=42)) > 2000


def test_a_path_without_a_mouse(page):
    from selenium.webdriver import Keys

    canvas = page.find("#maze")
    canvas.send_keys(Keys.ENTER, Keys.ARROW_DOWN, Keys.ENTER)
    page.until("return page.path.cells.length > 0")
    start, end = page.run("return [page.path.start, page.path.end]")
    assert end == [start[0] + 3, start[1]]


# ---- light and dark, names for those who do not see ------------------------------------------


def test_light_and_dark(page):
    colours = []
    for scheme in ("light", "dark"):
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        page.until(f"return page.screen.colours.css.paper === ({{ light: '#ffffff', dark: '#20252a' }}).{scheme}")
        page.fill(width="60", seed="5")
        drawn = page.drawn()
        assert drawn.check(MazeSpec(60, seed=5)) > 2000
        colours.append((drawn.colours["paper"], drawn.colours["wall"]))
    assert sum(colours[0][0].to_bytes(4, "little")) > sum(colours[0][1].to_bytes(4, "little"))
    assert sum(colours[1][0].to_bytes(4, "little")) < sum(colours[1][1].to_bytes(4, "little"))
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_all_that_can_be_focused_has_a_name(page):
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    focusable = [
        node
        for node in nodes
        if not node["ignored"]
        and any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
    ]
    assert len(focusable) > 20
    unnamed = [node["role"]["value"] for node in focusable if not node.get("name", {}).get("value")]
    assert [role for role in unnamed if role != "RootWebArea"] == []
    roles = {node["role"]["value"] for node in nodes}
    assert {"banner", "main", "complementary", "contentinfo", "application", "status"} <= roles


def test_a_narrow_page_has_all_of_it(page):
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 780, "deviceScaleFactor": 3, "mobile": True}
    )
    try:
        page.fill(width="60", seed="5")
        page.until("return page.view.size[0] === 390 * 3")
        assert page.drawn().check(MazeSpec(60, seed=5)) > 100
        assert page.run("return document.documentElement.scrollWidth <= 390")
        page.find("#options").click()
        assert not page.find("#panel").is_displayed()
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

"""Reads a page of pmu-flame without our code, and drives it in a browser: for the tests.

    flame.py sums PAGE TYPE       flat and cum of each function, as the rows in the page have them
    flame.py total PAGE TYPE      the sum of all rows
    flame.py addresses PAGE       the addresses without a function, and what all in the object are
    flame.py bars PAGE TYPE       mark and bar of flat and cum of each function, and its name
    flame.py verdicts PAGE TYPE   verdict and sign of flat and cum of each function, and its name
    flame.py strict PAGE...       whether the policy, the scripts and the data are as they must be
    flame.py browse CASE,PAGE,... ...   run cases, in this order, in one headless Chromium;
                                  WITH=firefox: in Firefox
"""
import base64
import hashlib
import json
import os
import re
import sys
import time
import zlib

from protobuf import packed


# --- the data, read as flame-page.c describes them ---
def data_of(path):
    page = open(path, encoding="utf-8").read()
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def column(c, signed=False):
    out = packed(zlib.decompress(base64.b64decode(c["z"]), -15))
    if signed:
        out = [(x >> 1) ^ -(x & 1) for x in out]
    assert len(out) == c["n"]
    return out


def values_of(rows, i):
    return [v * rows["val"][i].get("mul", 1) for v in column(rows["val"][i], True)]


def nodes_of(d):
    parents, frames = [0], [0]
    for up, frame in zip(column(d["nodes"]["pop"]), column(d["nodes"]["frame"])):
        above = len(parents) - 1
        for _ in range(up):
            above = parents[above]
        parents.append(above)
        frames.append(frame)
    return parents, frames


def type_of(d, name):
    return [t["name"] for t in d["types"]].index(name)


def sums(d, name):
    """Each stack counts once for a function, however often it is in it."""
    parents, frames = nodes_of(d)
    functions, names = column(d["frames"]["func"]), column(d["funcs"]["name"])
    name_of = [d["strings"][names[functions[f]]] for f in frames]
    flat, cum, at = {}, {}, 0
    values = values_of(d["rows"], type_of(d, name))
    for delta, value in zip(column(d["rows"]["node"], True), values):
        at += delta
        flat[name_of[at]] = flat.get(name_of[at], 0) + value
        seen, node = set(), at
        while node:
            seen.add(name_of[node])
            node = parents[node]
        for n in seen:
            cum[n] = cum.get(n, 0) + value
    return {n: (flat.get(n, 0), cum[n]) for n in cum}


def addresses(d):
    """The addresses without a function, as (name of all in the object, address)."""
    first, names = column(d["funcs"]["line"], True), column(d["funcs"]["name"])
    for f, line in zip(column(d["frames"]["func"]), column(d["frames"]["line"], True)):
        if first[f] == -1:
            yield d["strings"][names[f]], line % 2**64


def bars_of(d, name):
    """As pmu-top prints them; None: there are none."""
    def text(code):
        return "~"[:code & 1] + ("%.2f" % ((code // 2 - 2) / 100) if code > 3 else "exact")
    bars = d["bars"][type_of(d, name)]
    if "flat" not in bars:
        return None
    codes = zip(column(bars["flat"]), column(bars["cum"]), column(d["funcs"]["name"]))
    return [(text(flat), text(cum), d["strings"][n]) for flat, cum, n in codes if flat and cum]


def verdicts_of(d, name):
    """As lib/flame/flame-verdicts.h describes them: of flat and cum, and the function's name."""
    def text(code):
        word = ["few", "chance", "unsteady", "sure"][code // 2 - 1] if code > 1 else "none"
        return word + ("+" if code & 1 else "-")
    v = d["verdicts"][type_of(d, name)]
    for flat, cum, n in zip(column(v["flat"]), column(v["cum"]), column(d["funcs"]["name"])):
        yield text(flat), text(cum), d["strings"][n]


def check_strict(path):
    page = open(path, "rb").read()
    head = page[:page.index(b'id="data">')]
    policy = re.search(rb'http-equiv="Content-Security-Policy" content="(.*?)"', head)[1].decode()
    for text, kind in ((rb"<style>(.*?)</style>", "style"),
                       (rb'<script type="module">(.*?)</script>', "script")):
        found = re.findall(text, page, re.S)
        assert len(found) == 1, (kind, len(found))
        digest = base64.b64encode(hashlib.sha256(found[0]).digest()).decode()
        assert "%s-src 'sha256-%s'" % (kind, digest) in policy, policy
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    data = re.search(rb'id="data">(.*?)</script>', page, re.S)[1]
    assert not re.search(rb"[<>&\x00-\x1f\x7f]|\xe2\x80[\xa8\xa9\xae]", data), "unescaped"
    page.decode("utf-8")
    assert page.lower().count(b"<script") == 2 and page.lower().count(b"<svg") == 0
    # what the build puts into pages counts, without the comments and indentation of the sources
    ours = len(re.search(rb"<style>(.*?)</style>", page, re.S)[1]) + \
        len(re.search(rb'type="module">(.*?)</script>', page, re.S)[1])
    assert ours <= 80 * 1024, ours


# --- a browser ---
WINDOW = 1240, 700      # drawing takes most of the CPU time; below 1200 there is no table at first


def chromium():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--window-size=%d,%d" % WINDOW, "--disable-dev-shm-usage",
                     "--disable-extensions", "--disable-background-networking",
                     "--disable-component-update",
                     # fewer processes and no emulated GPU: a quarter less CPU time
                     "--in-process-gpu", "--disable-software-rasterizer",
                     "--renderer-process-limit=1"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("chromedriver"), options=options)
    driver.set_script_timeout(600)      # 30 s by default, which a busy machine may take
    driver.set_page_load_timeout(600)
    return driver


class Page:
    def __init__(self):
        if os.environ.get("WITH") == "firefox":
            from firefox import Firefox
            self.driver = Firefox()
            self.driver.set_window_size(*WINDOW)
        else:
            self.driver = chromium()

    def run(self, script, *arguments):
        return self.driver.execute_script("return " + script, *arguments)

    def until(self, script):
        """Wait as long as it takes: only the test file has a limit."""
        while not self.run(script):
            time.sleep(0.05)

    def open(self, path, fragment=""):
        url = "file://" + os.path.abspath(path)
        if self.driver.current_url.split("#")[0] == url:    # another fragment would load nothing
            self.driver.get("about:blank")
        self.driver.get(url + fragment)
        self.until("window.__ready !== undefined || document.getElementById('msg') !== null")

    def go(self, fragment):
        """As if the reader had followed a link in the page."""
        self.settle("location.hash = arguments[0];", fragment)

    def settle(self, script="", *arguments):
        """Run SCRIPT, and wait until all is drawn: in one command, as each takes 20 ms of CPU time."""
        self.driver.execute_async_script(script + """
            const done = arguments[arguments.length - 1];
            requestAnimationFrame(() => setTimeout(done));""", *arguments)

    def key(self, *keys):
        self.settle("""for (const key of arguments[0])
            document.getElementById('plot').dispatchEvent(
                new KeyboardEvent('keydown', { key, bubbles: true }));""", keys)

    def text(self, name):
        return self.run("document.getElementById(arguments[0]).textContent", name)

    def sums(self):
        """The table's sums by name, as those of sums()."""
        out = {}
        for name, flat, cum in self.run("__sums()")[1:]:
            if flat or cum:
                of = out.setdefault(name, [0, 0])
                of[0] += flat
                of[1] += cum
        return out

    def rows(self):
        return self.run("""(() => {
            const rows = [];
            for (let row; (row = __row(rows.length)).length > 0;)
                rows.push(row);
            return rows;
        })()""")

    def errors(self):
        """Page errors, refused scripts and requests: all are messages of the console."""
        return [m["message"] for m in self.driver.get_log("browser") if m["level"] == "SEVERE"]

    def pixels(self, js_condition):
        """The share of the graph's pixels (r, g, b) for which JS_CONDITION is true."""
        return self.run("""(() => {
            const c = document.getElementById('cv');
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let n = 0;
            for (let i = 0; i < d.length; i += 4) {
                const [r, g, b] = [d[i], d[i + 1], d[i + 2]];
                n += d[i + 3] > 0 && (""" + js_condition + """) ? 1 : 0;
            }
            return n / (d.length / 4);
        })()""")


def check_widths(rows):
    """No box overlaps the next, and widths are in proportion to values."""
    width, total = rows[0][0][2], rows[0][0][3]
    for row in rows:
        end = -1
        for name, x, w, value, rest in row:
            assert x >= end - 1e-3, (name, x, end)
            assert abs(w / width - value / total) < 1e-9, (name, w, value)
            end = x + w


def browse_sums(page, path, *names):
    """The table has the sums of an independent reader, for each type, with each view's widths."""
    d = data_of(path)
    page.open(path)
    for i, name in enumerate(t["name"] for t in d["types"]):
        page.go("#t=%d" % i)
        want = {n: list(s) for n, s in sums(d, name).items() if any(s)}
        got = page.sums()
        assert {n: s for n, s in got.items()} == want, (name, set(got) ^ set(want))
        for view in ("flame", "icicle", "callers"):
            page.go("#t=%d&v=%s" % (i, view))
            check_widths(page.rows())
        top = max(want, key=lambda n: want[n][1])
        page.settle("location.hash = arguments[0] + encodeURIComponent(arguments[1]);",
                    "#t=%d&v=sandwich&f=" % i, top)
        assert any(r[0][0] == top and r[0][3] == want[top][1] and len(r) == 1 for r in page.rows())


def browse_use(page, path):
    """Search, zoom, back, types, granularity, table, help, theme: by keys, and by the fragment."""
    d = data_of(path)
    stacks = sums(d, d["types"][d["default"]]["name"])
    total = sum(f for f, c in stacks.values())
    page.open(path)
    name = sorted(stacks, key=lambda n: -stacks[n][1])[1]
    page.driver.execute_script("""
        const q = document.getElementById('q');
        q.value = arguments[0];
        q.dispatchEvent(new Event('input'));""", "^" + re.escape(name) + "$")
    matched = float(re.search(r"matched ([\d.]+) %", page.text("found"))[1])
    assert abs(matched - 100 * stacks[name][1] / total) < 0.006, (matched, name)
    assert page.pixels("b > r && r - g > 50") > 0.001, "no box is violet"
    page.key("Escape")
    assert page.text("found") == ""
    before = page.rows()
    level = [len(row) > 1 for row in before].index(True)
    page.key(*["ArrowUp"] * (level + 1), "Enter")
    zoomed = page.rows()
    assert "z=" in page.run("location.hash") and len(zoomed[level]) == 1
    assert abs(zoomed[level][0][2] - zoomed[0][0][2]) < 1e-6
    page.run("void history.back()")
    page.until("!location.hash.includes('z=')")
    page.settle()
    assert page.rows() == before
    for key, part in (("2", "v=icicle"), ("3", "v=callers"), ("1", ""), ("]", "t="), ("[", ""),
                      ("g", "g=line"), ("g", "g=file"), ("g", "g=object"), ("g", ""),
                      ("t", "side="), ("t", "side="), ("t", ""), ("c", "c=object"),
                      ("l", "th=dark"), ("s", "v=sandwich"), ("Escape", "")):
        page.key(key)
        assert part in page.run("location.hash"), (key, part, page.run("location.hash"))
    check_bars(page, d)
    height = "document.getElementById('cv').style.height"
    page.go("#th=dark&side=2")
    before = page.run(height)
    page.run("void window.dispatchEvent(new Event('beforeprint'))")
    assert page.run(height) == "%dpx" % (19 * len(page.rows()) + 8), page.run(height)
    assert page.run("document.documentElement.dataset.theme") == "light"
    # a quarter of what boxes take, as their texts and borders have other colours
    rows = page.rows()
    boxes = sum(w for row in rows for _, _, w, *_ in row) / (len(rows) * rows[0][0][2])
    drawn = page.pixels("r > 200 && b < 150")
    assert drawn > boxes / 4, ("no box is drawn for the printer", drawn, boxes)
    page.run("void window.dispatchEvent(new Event('afterprint'))")
    assert page.run(height) == before
    page.key("?")
    assert page.run("document.getElementById('help').open")
    for comment in d["comments"]:
        assert comment.split("\u202e")[0] in page.text("help")
    for bad in ("#z=zz.r9.^", "#v=nonsense&t=99&g=&c=diff", "#s=9-1", "#q=(", "#f=%", "#l=a%3Db",
                "#th=x&sort=__proto__"):
        page.go(bad)
        assert page.rows()[0][0][3] == total or "t=" in bad, bad
    page.open(path, "#z=zz.r9.^&s=9-1&q=(&l=%&v=x")
    assert page.rows()[0][0][3] == total
    page.go("#v=sandwich&f=no+such")
    assert page.rows() == [] and page.text("stat") == "0 boxes"
    check_looks(page)


def browse_source(page, path, profile, name, line):
    """The panel of a box: its lines with their shares, and a command for a shell."""
    d = data_of(path)
    stacks = sums(d, d["types"][d["default"]]["name"])
    total = sum(f for f, c in stacks.values())
    page.open(path)
    assert "this page holds source lines of" in page.text("stat")
    page.settle("location.hash = arguments[0];", "#v=sandwich&f=" + name)
    page.key("ArrowUp", "a")
    hot = page.run("[...document.querySelectorAll('#source tr.hot')].map(r => r.innerText)")
    assert any(line in text for text in hot), hot
    # the lines of a function have its sums
    shares = page.run("""[...document.querySelectorAll('#source tbody td:first-child')]
        .map(cell => parseFloat(cell.textContent) || 0)""")
    assert abs(sum(shares) - 100 * stacks[name][0] / total) < 0.02 * len(shares), shares
    assert page.run("document.querySelector('#source pre').textContent") == \
        "pmu-annotate %s %s" % (name, profile)
    page.run("document.getElementById('source').close()")
    # a function whose name a shell would take apart
    page.settle("location.hash = arguments[0];", "#v=flame")
    assert page.run("window.__command(\"it's (*T).f\", 'p.pb')") == \
        "pmu-annotate 'it'\\''s (*T).f' p.pb"
    assert page.run("window.__command('-x', '-p.pb')") == "pmu-annotate -- -x ./-p.pb"
    assert page.run("window.__command('a\\u202eb', 'p.pb')") is None


def check_bars(page, d):
    """The table has the error bars that the page came with, as long as it shows all samples.  It has
    only the rows that can be seen: all of a small page, at least 20 of a large one."""
    want = {name: [flat, cum] for flat, cum, name in bars_of(d, d["types"][d["default"]]["name"])}
    cells = """[...document.querySelectorAll('tr.r')].map(row => [row.lastChild.textContent,
        ...[...row.querySelectorAll('small')].map(e => e.textContent.trim().replace('±', ''))])"""
    page.go("#side=2")
    got = {re.sub(r" \(.*inlined\)$", "", name): bars for name, *bars in page.run(cells)}
    assert len(got) >= min(len(want), 20), (len(got), len(want))
    assert got == {name: want[name] for name in got}, (got, want)
    assert "%s samples" % sum(column(d["rows"]["val"][0], True)) in page.text("note").replace(",", "")
    page.go("#side=1")
    page.key("ArrowUp", "ArrowUp")
    assert re.search("in all call paths: self .* ±.*, total .* ±", page.text("tip")), page.text("tip")
    parts = ["g=line"]          # and what takes some samples of a page that has labels, times
    parts += ["l=thread_comm%3Dmain"] * ("thread_comm" in d["strings"])
    parts += ["s=0-1000"] * ("time" in d["rows"])
    for part in parts:
        page.go("#side=2&" + part)
        assert all(len(row) == 1 for row in page.run(cells)), part
        assert "none in this view" in page.text("note")


def check_looks(page):
    """A narrow window breaks no button, and has the table below the graph, which keeps half of the
    height; the theme is the system's unless the address has one."""
    page.driver.set_window_size(500, 800)
    page.go("#heat=1&side=1")
    width, height, beside = page.run("""['clientWidth', 'clientHeight', 'offsetTop'].map((key, i) =>
        document.getElementById(i < 2 ? 'plot' : 'side')[key])""")
    assert width == page.run("innerWidth") and height >= page.run("innerHeight") / 2, (width, height)
    assert beside > height
    broken = page.run("[...document.querySelectorAll('button')].filter(b => "
                      "b.scrollHeight > b.clientHeight + 1).map(b => b.textContent)")
    assert broken == [], broken
    page.driver.set_window_size(*WINDOW)
    if not hasattr(page.driver, "execute_cdp_cmd"):
        return
    for theme, shade in ("dark", "< 60"), ("light", "> 200"):
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme}]})
        page.until("document.documentElement.dataset.theme == '%s'" % theme)
        page.settle()
        assert page.run("/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0] " + shade)


def browse_heat(page, path):
    """A span of time selects its samples, by mouse and by keys; all of the time is all samples."""
    from selenium.webdriver.common.action_chains import ActionChains
    d = data_of(path)
    rows, times, values = d["rows"], [], values_of(d["rows"], d["default"])
    for delta in column(rows["time"]):
        times.append(delta + (times[-1] if times else 0))
    tick = rows["tick"] / 1e6
    timed = list(zip(times, values))[rows["untimed"]:]
    page.open(path, "#heat=1&side=0")
    total = page.rows()[0][0][3]
    assert total == sum(values)
    page.go("#heat=1&s=0-%d" % (tick * (times[-1] + 1) + 60000))
    assert page.rows()[0][0][3] == sum(v for t, v in timed)
    end = tick * times[-1] / 2
    page.go("#heat=1&s=0-%.3f" % end)
    assert page.rows()[0][0][3] == sum(v for t, v in timed if t * tick < float("%.3f" % end))
    page.go("#heat=1")
    canvas = page.driver.find_element("id", "hc")
    hand = ActionChains(page.driver)
    hand.move_to_element_with_offset(canvas, 60 - canvas.size["width"] / 2, 0)
    hand.click_and_hold().move_by_offset(30, 0).release().perform()
    page.settle()
    part = page.rows()[0][0][3]
    span = [float(x) for x in re.search(r"s=([\d.]+)-([\d.]+)", page.run("location.hash")).groups()]
    assert part == sum(v for t, v in timed if span[0] <= t * tick < span[1]) and 0 < part < total
    # the span, of 30 pixels, stands out: what is before and after it is pale
    page.go("#th=light&heat=1")
    every = strong_columns(page)
    page.go("#th=light&heat=1&s=%g-%g" % tuple(span))
    assert 0 < strong_columns(page) < 0.6 * every, (strong_columns(page), every)
    page.run("void document.getElementById('hvs').click()")
    page.settle()
    assert "vs=1" in page.run("location.hash") and "less" in page.text("legend")
    page.go("#heat=1")
    for key in (" ", "ArrowRight", " "):
        page.driver.execute_script("""
            const c = document.getElementById('hc');
            c.focus();
            c.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true }));
            """, key)
    page.settle()
    assert "s=0-" in page.run("location.hash")
    check_heat_words(page)


def strong_columns(page):
    """How many columns of pixels of the heat map have strong colours."""
    return page.run("""(() => {
        const c = document.getElementById('hc'), g = c.getContext('2d');
        const d = g.getImageData(0, 0, c.width, c.height - 20).data, found = new Set();
        for (let i = 0; i < d.length; i += 4)
            if (d[i + 3] > 250 && d[i + 2] < 100 && i / 4 % c.width >= 54)
                found.add(i / 4 % c.width);
        return found.size;
    })()""")


def check_heat_words(page):
    """The numbers at the axes are whole and short, and the words are those of the theme."""
    page.go("#th=light&heat=0")
    page.driver.execute_script("""
        const draw = CanvasRenderingContext2D.prototype.fillText;
        window.drawn = [];
        CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
            if (this.canvas.id === 'hc')
                drawn.push([text, this.textAlign === 'right' ? x - this.measureText(text).width
                    : x]);
            draw.call(this, text, x, y);
        };""")
    page.go("#th=light&heat=1")
    drawn = page.run("drawn")
    assert drawn and all(x >= 0 for text, x in drawn), drawn
    assert not any(re.search(r"\.\d*0 s$", text) for text, x in drawn), drawn
    assert re.search(r"Darker: more .* A column is [\d.]+ m?s", page.text("hcap")), page.text("hcap")
    page.go("#th=dark&heat=1")
    assert "Brighter: more" in page.text("hcap")


def browse_served(page, url):
    """pmu-serve's form leads to a page that shows the functions of tests/bin/ten."""
    names = set()
    while not {"main", "serial", "I", "J"} <= names:    # it may have got little time meanwhile
        page.driver.get(url + "/debug/pprof/")
        for name, value in (("event", "cpu-clock"), ("period", "200000"), ("seconds", "3")):
            field = page.driver.find_element("name", name)
            field.clear()
            field.send_keys(value)
        page.driver.find_element("tag name", "button").click()
        page.until("location.pathname === '/flame' && document.readyState === 'complete'")
        assert page.run("document.contentType") == "text/html", page.run("document.body.innerText")
        page.until("window.__ready !== undefined || document.getElementById('msg') !== null")
        rows = page.rows() if page.run("window.__ready !== undefined") else []
        names = {box[0] for row in rows for box in row}
    assert page.pixels("r > 200 && b < 150") > 0.01, "no box is drawn"
    assert page.errors() == [], page.errors()


def browse_hostile(page, path):
    """Names run nothing, in any view; and what is tried on purpose is refused, by the policy."""
    page.open(path)
    for fragment in ("#v=icicle", "#v=callers", "#side=2", "#g=file", "#q=.&c=object",
                     "#v=sandwich&f=__proto__"):
        page.go(fragment)
        page.key("ArrowUp", "ArrowUp", "ArrowUp")
        assert page.run("document.scripts.length") == 2
        assert page.run("document.querySelectorAll('img,svg,iframe,object,embed').length") == 0
    page.key("?")
    assert page.run("document.scripts.length") == 2
    assert page.errors() == []
    page.run("""void (() => {
        const quietly = f => { try { f() } catch {} };
        quietly(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'));
        const made = name => document.createElement(name), s = made('script'), b = made('b');
        quietly(() => { s.text = 'window.owned = 1'; document.body.append(s) });
        quietly(() => { b.setAttribute('onclick', 'window.owned = 2'); b.click() });
        quietly(() => { new Image().src = 'http://127.0.0.1:9/x.png' });
    })()""")
    page.settle()
    assert page.run("window.owned === undefined && document.querySelector('body > b') === null")
    assert page.errors() != [], "what was tried was not refused, so that nothing above is proved"


def browse_grey(page, path):
    """Against itself a profile has no change that is more than chance."""
    page.open(path)
    assert "may be chance" in page.text("legend")
    for selector in ("td.up", "td.dn"):
        assert page.run("document.querySelectorAll(arguments[0]).length", selector) == 0
    assert page.run("document.querySelector('td.ns') !== null") or "lower" in page.text("legend")
    assert page.pixels("Math.max(r, g, b) - Math.min(r, g, b) > 60") < 0.001


def rows_of_changes(page):
    """Name as pmu-diff has it, verdict and change in points of each row of the table."""
    rows = page.run("""[...document.querySelectorAll('tr.r')].map(row => [
        row.lastChild.title, row.children[row.children.length - 2].title,
        row.children[row.children.length - 2].textContent])""")
    return [[re.sub(r"^\[(.*): [\d,]+ address(es)?\]$", r"[\1]", row[0]), *row[1:]] for row in rows]


def browse_unsteady(page, path, name):
    """A large change of an unsteady function has its own colour, sign and word."""
    page.open(path, "#side=2")
    found = {row[0]: row[1:] for row in rows_of_changes(page)}
    assert found[name][0] == "large, but unsteady" and found[name][1][0] in "\u25b3\u25bd", found
    page.go("#side=1")
    assert "large, but unsteady" in page.text("legend")
    assert page.pixels("r > 190 && g > 170 && b < 150") > 0.003, "no box is yellow"
    assert page.pixels("r > 130 && r < 230 && g > r - 30 && b < 140") > 0.0002, "no box has dots"
    assert "first the sure changes" in page.text("note")


def browse_verdicts(page, path, wanted):
    """The table has the verdicts, sizes and order of pmu-diff."""
    page.open(path, "#side=2")
    said = {"sure": "sure", "unsteady": "large, but unsteady", "chance": "may be chance"}
    want = [[row["name"], said[row["verdict"]], 100 * row["change"]]
            for row in json.load(open(wanted))["rows"]]
    got = [[name, verdict, float(re.search(r"[\d.]+", change)[0]) *
            (-1 if "\u2212" in change else 1)] for name, verdict, change in rows_of_changes(page)]
    assert len({row[1] for row in want}) == 3, want
    assert [row[:2] for row in got] == [row[:2] for row in want], (got, want)
    assert all(abs(a[2] - b[2]) < 0.06 for a, b in zip(got, want)), (got, want)


def browse_change(page, path, more, less, gone):
    """A function that is more, one that is less, and one that is gone."""
    page.open(path, "#side=2&sort=n")
    rows = page.run("""[...document.querySelectorAll('tr.r')].map(row =>
        [...row.children].map(c => c.className + ' ' + c.textContent))""")
    change = {row[-1].strip().split(" ")[0]: row[-2] for row in rows}
    assert change[more].startswith("up \u25b2 +"), change
    assert change[less].startswith("dn \u25bc \u2212"), change
    page.go("#side=1")
    boxes = [box[0] for row in page.rows() for box in row]
    assert more in boxes and gone not in boxes, boxes
    page.key("x")
    boxes = [box[0] for row in page.rows() for box in row]
    assert more in boxes and gone in boxes, boxes


def browse_empty(page, path):
    page.open(path)
    assert "no samples" in page.text("msg")


def browse_waits(page, path):
    """Waits, who ended them, and causes: keys go over the values, and always show the root."""
    def shown():
        return page.run("document.getElementById('ty').selectedOptions[0].text")

    def root_is_in_view():
        return page.run("(plot => plot.scrollTop + plot.clientHeight >= plot.scrollHeight - 1)"
                        "(document.getElementById('plot'))")

    page.open(path, "#heat=1")
    assert page.text("sum") == "52.0ms of waiting in 1.00s \u00b7 10 contentions", page.text("sum")
    assert "er: more waiting. " in page.text("hcap"), page.text("hcap")
    page.go("#heat=1&side=2")
    assert re.match("10 contentions; .* 9.1.% of contentions were lost; [^.]* up to 9.1 points higher."
                    "$", " ".join(page.text("note").split("\n")).strip()), page.text("note")
    page.go("#heat=1")
    for name in ("causes", "cpu", "block", "mutex", "causes"):
        page.key("]")
        assert shown() == name and root_is_in_view(), (name, shown())
    window = "(plot => plot.scrollHeight / plot.clientHeight)(document.getElementById('plot'))"
    assert page.run(window) > 1.5, "the graph fits into the window, so that nothing is proved"
    tall = page.run("location.hash")
    page.go(tall + "&l=lock%3Dsmall")
    assert page.text("sum") == "4.0ms of waiting in 1.00s \u00b7 3 contentions (filtered)"
    page.go(tall)
    assert root_is_in_view() and page.run(window) > 1.5
    page.settle("document.getElementById('plot').scrollTop = 0;")
    page.go("#t=6")
    assert shown() == "causes_samples" and root_is_in_view() and page.run(window) > 1.5
    page.go(tall)
    # where the waiting thread ends and the other begins, there is another colour
    assert "between threads" in page.text("legend")
    page.go("#th=light&t=7&v=sandwich&f=%5Bwaits%20for%5D")
    assert page.pixels("r > 225 && g < 190 && b > 160 && b < 225") > 0.01, "no box is pink"
    for name in ("mutex", "block", "cpu"):
        page.key("[")
        assert shown() == name, (name, shown())
    page.go("#heat=1&t=4")
    assert shown() == "mutex_samples" and page.text("sum") == "10 contentions in 1.00s"
    assert "er: more contentions. " in page.text("hcap"), page.text("hcap")
    page.key("]")
    assert shown() == "mutex"


def browse_cut(page, path, want):
    """Where call paths are summed up, the page says so, and the table is exact."""
    d = data_of(path)
    page.open(path)
    assert "call paths summed up" in page.text("stat")
    assert any("[too small: " in box[0] for row in page.rows() for box in row)
    name = d["types"][d["default"]]["name"]
    got = page.sums()
    for n, (flat, cum) in json.load(open(want)).items():
        assert got.get(n, [0, 0]) == [flat, cum], (name, n, got.get(n), flat, cum)


def browse_large(page, path):
    """Shown and zoomed in time: compared with a loop in the same page, not with seconds."""
    page.open(path)
    check_widths(page.rows())
    figures = page.driver.execute_async_script("""
        const done = arguments[0], plot = document.getElementById('plot'), zooms = [];
        const frame = () => new Promise(r => requestAnimationFrame(() => setTimeout(r)));
        const key = k => plot.dispatchEvent(
            new KeyboardEvent('keydown', { key: k, bubbles: true }));
        (async () => {
            for (let i = 0; i < 15; i++) {
                key('ArrowUp');
                const begun = performance.now();
                key('Enter');
                await frame();
                zooms.push(performance.now() - begun);
            }
            const begun = performance.now();
            let sum = 0;
            for (let i = 0; i < 3e8; i++) sum = sum + i | 0;
            done([__ready, zooms.sort((a, b) => a - b)[7], performance.now() - begun, sum]);
        })()""")
    print("ready %.0f ms, zoom %.0f ms, 300 million additions %.0f ms" % tuple(figures[:3]))
    assert figures[1] < figures[2], "a zoom takes longer than the loop"


def browse(*cases):
    page = Page()
    try:
        for words in cases:
            case, *arguments = words.split(",")
            print(words)
            globals()["browse_" + case](page, *arguments)
            if case != "hostile":
                assert page.errors() == [], page.errors()
    except BaseException:
        page.driver.save_screenshot("failed.png")
        raise
    finally:
        page.driver.quit()


if __name__ == "__main__":
    what, path = sys.argv[1:3]
    if what == "sums":
        for n, s in sorted(sums(data_of(path), sys.argv[3]).items()):
            print("%d %d %s" % (*s, n))
    elif what == "total":
        d = data_of(path)
        print(sum(values_of(d["rows"], type_of(d, sys.argv[3]))))
    elif what == "addresses":
        for name, address in addresses(data_of(path)):
            print("%#x %s" % (address, name))
    elif what == "bars":
        for bars in bars_of(data_of(path), sys.argv[3]):
            print(*bars)
    elif what == "verdicts":
        for line in verdicts_of(data_of(path), sys.argv[3]):
            print(*line)
    elif what == "strict":
        for path in sys.argv[2:]:
            print(path)
            check_strict(path)
    else:
        browse(*sys.argv[2:])

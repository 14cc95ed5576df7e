"""What the browser tests share: berth's reports, opened in a real Chromium, and a small runner.

usage of a test program: test_NAME.py BERTH [PART-OF-A-TEST'S-NAME]

Functions with @test run in the order in which they stand; the program ends with the line "N passed, N failed". A test fails by an
exception, and also when its page wrote to the console, threw an error or asked for anything but itself: Report checks that
when it is closed. Without Chromium or Playwright the program fails; scripts/setup installs both.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync").split()
DESKTOP, PHONE = (1280, 900), (360, 740)


def import_playwright():
    """Playwright of this interpreter, or the whole program once more with that of .deps/venv."""
    try:
        from playwright.sync_api import sync_playwright
        return sync_playwright
    except ImportError:
        python = ROOT / ".deps/venv/bin/python"
        if python.exists() and pathlib.Path(sys.prefix) != ROOT / ".deps/venv" and "BERTH_TEST_VENV" not in os.environ:
            os.execve(python, [str(python), *sys.argv], {**os.environ, "BERTH_TEST_VENV": "1"})
        sys.exit("Playwright is not installed, so no page can be tested: run scripts/setup")


def find_chromium():
    path = shutil.which("chromium")
    if not path:
        sys.exit("Chromium is not installed, so no page can be tested: run scripts/setup")
    return path


# ---- berth ----

def berth(*args, stdin=None):
    """Runs berth; the completed process, with texts."""
    return subprocess.run([BERTH, *args], input=stdin, capture_output=True, text=True, timeout=300)


def simulate(*args, stdin=None):
    """The standard output of a simulation that went well, with pods pending or without."""
    done = berth("simulate", *args, stdin=stdin)
    assert done.returncode in (0, 3), f"exit code {done.returncode}: {done.stderr}"
    return done.stdout


class Run:
    """A simulation: its page in a file, and the documents that the page should agree with."""

    def __init__(self, folder, cluster):
        self.path = pathlib.Path(folder) / "report.html"
        source = pathlib.Path(folder) / "cluster.json"
        if isinstance(cluster, pathlib.Path):
            source = cluster
        else:
            source.write_text(json.dumps(cluster), encoding="utf-8")
        self.json = json.loads(simulate("-f", str(source), "-o", "json", "--report", str(self.path)))
        self.source = source

    def with_sections(self, **sections):
        """The page with further members in its data, as what-if questions and traces add them."""
        text = self.path.read_text(encoding="utf-8")
        at = text.index("}</script>", text.index('id="data"'))
        more = "".join(f",{json.dumps(k)}:{json.dumps(v)}" for k, v in sections.items()).replace("<", "\\u003c")
        path = self.path.with_name("sections.html")
        path.write_text(text[:at] + more + text[at:], encoding="utf-8")
        return path


# ---- Pages ----

class Report:
    """A page, open; collects everything that a quiet page does not do."""

    def __init__(self, browser, path, size=DESKTOP, scheme="light"):
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=True,
                                           reduced_motion="reduce")  # no waiting for pages that scroll
        self.page = self.context.new_page()
        self.page.set_default_timeout(30000 * int(os.environ.get("TEST_SLOWDOWN", "1")))
        self.noise = []
        self.address = path.as_uri()
        self.page.on("console", lambda m: self.noise.append(f"console {m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.noise.append(f"error: {e}"))
        self.page.on("request", self.note_request)
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready=true]", state="attached")

    def note_request(self, request):
        if request.url != self.address and not request.url.startswith("data:image/svg+xml,"):
            self.noise.append(f"request: {request.url}")

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def rows(self, table, column):
        """One column of the rows that a table shows."""
        return [text.strip() for text in self.page.locator(f"#{table}-table tbody td[data-label='{column}']").all_text_contents()]

    def search(self, table, query):
        self.page.fill(f"#{table}-search", query)
        self.wait_for_query(table, query)

    def wait_for_query(self, table, query):
        """Until the rows are those of the query: a large table waits for the end of typing."""
        shown = self.page.locator(f"#{table}-table")
        for _ in range(1200):
            if shown.get_attribute("data-query") == query:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{table}: the query {query!r} was not answered")

    def status(self, table):
        return self.page.inner_text(f"#{table}-table .status")


@contextlib.contextmanager
def open_report(path, **options):
    with running_browser() as browser:
        report = Report(browser, path, **options)
        try:
            yield report
        finally:
            report.context.close()
        assert not report.noise, f"the page is not quiet: {report.noise}"


_browser = None


@contextlib.contextmanager
def running_browser():
    yield _browser


# ---- The runner ----

_tests = []


def test(function):
    _tests.append(function)
    return function


def run_one(function, *args):
    try:
        function(*args)
        print(f"ok      {function.__name__}", flush=True)
        return True
    except Exception:
        traceback.print_exc()
        print(f"FAILED  {function.__name__}", flush=True)
        return False


def at_end():
    """What a world that runs programs puts its end in place of."""


def main(make_world=lambda folder: (), needs_browser=True):
    """Runs the tests, each with what make_world(folder) returns."""
    global _browser
    chosen = [t for t in _tests if len(sys.argv) < 3 or sys.argv[2] in t.__name__]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if needs_browser:
            playwright = stack.enter_context(import_playwright()())
            _browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            stack.callback(_browser.close)
        world = make_world(folder)
        stack.callback(at_end)
        results = [run_one(t, *world) for t in chosen]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if results and all(results) else 1)


if len(sys.argv) < 2:
    sys.exit(__doc__)
BERTH = sys.argv[1]

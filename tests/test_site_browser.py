"""The built site in a real browser: what a reader does, no dead link, accessibility.

    make site
    export NETLOOM_SITE=build/site/html NETLOOM_AXE=axe.min.js
    .venv/bin/python -m pytest -q tests/test_site_browser.py

Run by hand after a change of the theme or of how pages are staged: Chromium and Selenium are not in CI.
`NETLOOM_AXE` is npm's axe-core; without it accessibility is not looked at. Links are followed without a
browser.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

SITE = os.environ.get("NETLOOM_SITE")
AXE = os.environ.get("NETLOOM_AXE")
pytestmark = pytest.mark.skipif(SITE is None, reason="NETLOOM_SITE names no built site (make site)")
KINDS = (
    "index",
    "from-program-to-routes",
    "gallery",
    "search",
    "genindex",
    "python",
    "glossary",
    "benchmarks",
    "verbs/index",
    "verbs/optimize",
    "verbs/simulate",
    "verbs/report",
    "api/index",
    "api/optimize",
    "api/Fabric",
    "api/netloom.sweeps",
    "schemas/optimize",
    "methods/optimizer",
    "decisions/index",
    "files/CONTRIBUTING",
)
"""Pages of every kind, at which accessibility is looked at; `NETLOOM_AXE_ALL=1` looks at all."""


class Page(HTMLParser):
    """What a page names and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names |= {name for name in (found.get("id"), found.get("name")) if name}
        self.links += [link for link in (found.get("href"), found.get("src")) if link]


def test_every_link_of_every_page_leads_somewhere():
    site = Path(str(SITE)).resolve()
    pages = {page: Page(page.read_text()) for page in site.rglob("*.html")}
    assert len(pages) > 250
    dead = []
    for page, found in pages.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file() or (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names
            ):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert not dead, "\n".join(dead[:40])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver_of = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver_of):
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.add_argument("--window-size=1280,900")
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_of))
    driver.set_script_timeout(60)
    driver.implicitly_wait(5)
    yield driver
    driver.quit()


def follow(browser, text: str) -> None:
    """Clicks on the first link of the page itself, or of its contents at the left, that says so."""
    for link in browser.find_elements("link text", text):
        if link.is_displayed():
            browser.execute_script(
                "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", link
            )
            link.click()
            return
    raise AssertionError(f"no link {text} on {browser.current_url}")


def test_from_the_start_page_to_a_verb_a_function_and_a_picture(browser, address):
    browser.get(address + "index.html")
    assert "netloom" in browser.title
    follow(browser, "netloom optimize")
    assert browser.current_url.endswith("verbs/optimize.html")
    assert "Usage: netloom optimize FABRIC TRAFFIC" in browser.find_element("tag name", "article").text
    browser.get(address + "index.html")
    follow(browser, "all names")
    follow(browser, "netloom.optimize")
    article = browser.find_element("tag name", "article").text
    for part in ("Parameters", "Returns", "Raises", "Examples"):
        assert part.casefold() in article.casefold()  # The theme may show it in capitals.
    browser.get(address + "index.html")
    follow(browser, "Pictures")
    drawn = browser.execute_script(
        "return [...document.images].filter((one) => one.complete && one.naturalWidth > 0).length"
    )
    assert drawn >= 1
    browser.execute_script("for (const one of document.images) one.loading = 'eager'")
    assert "netloom plot loads" in browser.find_element("tag name", "article").text
    wrong = [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    assert [one for one in wrong if "favicon.ico" not in one] == []


def test_search_finds_optimize(browser, address):
    browser.get(address + "search.html?q=optimize")
    found = browser.find_elements("css selector", "ul.search li a")
    assert found
    places = {urljoin(browser.current_url, one.get_attribute("href")).partition("?")[0] for one in found}
    for page in ("verbs/optimize.html", "api/optimize.html"):
        assert any(place.partition("#")[0].endswith(page) for place in places), page


@pytest.mark.skipif(AXE is None, reason="NETLOOM_AXE names no axe-core")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_page_has_an_accessibility_violation(browser, address, dark):
    script = Path(str(AXE)).read_text()
    pages = [f"{name}.html" for name in KINDS]
    if os.environ.get("NETLOOM_AXE_ALL"):
        site = Path(str(SITE))
        pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    browser.get(address)
    browser.execute_script(f"localStorage.setItem('theme', '{'dark' if dark else 'light'}')")
    wrong = []
    for page in pages:
        browser.get(address + page)
        browser.execute_script(script)
        found = browser.execute_async_script(
            "const done = arguments[0]; axe.run().then((found) => done(found.violations.map((one) =>"
            " `${one.id} (${one.impact}): ${one.nodes.length}, ${one.nodes[0].html.slice(0, 200)}"
            " ${one.nodes[0].failureSummary.slice(0, 200)}`)))"
        )
        wrong += [f"{page}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)

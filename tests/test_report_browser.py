"""Pages of `netloom report` in a real browser: Chromium, driven by Selenium; skipped where these are not.

With `NETLOOM_AXE=axe.min.js` (npm's axe-core) accessibility is looked at, too. With `NETLOOM_SHOTS=FOLDER`
every kind of page is photographed at three widths, light and dark: whoever changes how pages look, looks at
these. Where the folder has pictures of before, those that differ in more than a thousandth of their pixels
are named.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from conftest import Netloom
from report_bed import KINDS, Figure, agrees, every_kind

webdriver = pytest.importorskip("selenium.webdriver")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="chromium and chromium-driver are not installed"
)

EVIL = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 2">',
    "</script><svg onload=ran()>",
]
AXE = os.environ.get("NETLOOM_AXE")


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(word)
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory, validate, forks, paths) -> Path:
    command = Netloom(tmp_path_factory.mktemp("pages"), validate, forks)
    every_kind(command, paths)
    (command.folder / "r.json").write_text(
        command.ok("loads", paths.ft2, "ftree", "bisection", "--format", "json")
    )
    command.ok("report", "r.json", "-o", "result.html")
    rows = ["from,from_port,to,to_port"]
    for n, name in enumerate(EVIL):
        quoted = name.replace('"', '""')
        rows.append(f'"{quoted}",1,"leaf{quoted}",{n + 1}')
        rows.append(f'"{quoted}2",1,"leaf{quoted}",{n + 9}')
        rows.append(f'"leaf{quoted}",20,spine,{n + 1}')
    (command.folder / "net.csv").write_text("\n".join(rows) + "\n")
    command.ok("report", "net.csv", "shift:1", "minhop", "-o", "evil.html", "--title", EVIL[1])
    return command.folder


def opened(browser, page: Path):
    """The page, whose picture is drawn; nothing else was asked for, and nothing complained of."""
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(page.as_uri())
    # Drawn, where there is something to draw.
    browser.execute_async_script(
        "const done = arguments[0]; const section = document.getElementById('picture');"
        "const drawn = () => !section.hidden && document.getElementById('fabric').style.height;"
        "(function look() { if (!section || drawn())"
        " requestAnimationFrame(() => requestAnimationFrame(done)); else setTimeout(look, 20); })()"
    )
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked == [page.as_uri()]
    assert browser.get_log("browser") == []
    return browser


@pytest.mark.parametrize("name", [*KINDS, "result", "evil"])
def test_a_page_asks_nobody_and_its_figures_are_the_jsons(browser, pages, name):
    opened(browser, pages / f"{name}.html")
    shown = browser.execute_script("""
        const found = [];
        for (const one of document.querySelectorAll("[data-at][data-unit]:not(th)"))
          found.push([one.dataset.at, one.dataset.unit, one.textContent]);
        for (const table of document.querySelectorAll("table")) {
          const heads = [...table.querySelectorAll("th[data-unit]")];
          [...table.tBodies[0].rows].forEach((row, n) => {
            [...row.querySelectorAll("td.n, td.t")].forEach((cell, k) => {
              const {key, at, unit} = heads[k].dataset;
              const from = row.dataset.at ? row.dataset.at + "/" + key : at + "/" + n;
              found.push([from, unit, cell.textContent]);
            });
          });
        }
        const json = JSON.parse(document.getElementById("data").textContent);
        const at = (path) => path.split("/").slice(1).reduce((of, key) =>
          of?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], json);
        return found.map(([path, unit, text]) => [path, unit, text, at(path) ?? null]);
    """)
    assert len(shown) > 10
    wide(browser)
    for at, unit, text, value in shown:
        assert agrees(Figure(at, unit, text), value), (at, unit, text, value)


def test_names_are_text_wherever_they_are_shown(browser, pages):
    opened(browser, pages / "evil.html")
    browser.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; });")
    for name in EVIL:
        assert f"leaf{name}" in browser.execute_script("return document.body.innerText")
    browser.execute_script("document.getElementById('fabric').focus()")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        press(browser, key)
    assert "leaf" in browser.execute_script("return document.getElementById('opened').innerText")
    assert browser.execute_script("return window.ran ?? null") is None
    assert browser.execute_script("return document.images.length") == 0
    assert browser.title == EVIL[1]


def press(browser, key: str) -> None:
    browser.execute_script(
        "const event = new KeyboardEvent('keydown', {key: arguments[0], bubbles: true});"
        "document.activeElement.dispatchEvent(event)",
        key,
    )


def test_a_click_names_the_hottest_link_and_its_pairs(browser, pages):
    """Found by pointing along the tiers, as somebody would."""
    opened(browser, pages / "routes.html")
    part = browser.execute_script("return JSON.parse(document.getElementById('data').textContent).parts[0]")
    hot = part["routings"][0]["busiest"][0]
    told = browser.execute_script(
        """
        const canvas = document.getElementById("fabric"), box = document.getElementById("told");
        const frame = canvas.getBoundingClientRect();
        for (let y = 1; y < frame.height; y += 3) for (let x = 1; x < frame.width; x += 12) {
          const where = {clientX: frame.left + x, clientY: frame.top + y, bubbles: true};
          canvas.dispatchEvent(new PointerEvent("pointermove", where));
          if (box.hidden || !box.textContent.startsWith(arguments[0])) continue;
          canvas.dispatchEvent(new PointerEvent("pointerdown", where));
          canvas.dispatchEvent(new PointerEvent("pointerup", where));
          return [box.textContent, document.getElementById("opened").innerText];
        }
        return null;
        """,
        f"{hot['from']} → {hot['to']}: ",
    )
    assert told is not None
    first = told[0].split("\n")[0]
    assert agrees(Figure("", "B", first.rsplit(": ", 1)[1]), hot["value"])
    assert f"of its {hot['pairs']} pairs" in told[1]
    for pair in hot["users"]:
        assert f"{pair['source']}\t{pair['destination']}" in told[1]


WIDTHS = (320, 1280, 2560)


def resized(browser, width: int, height: int = 900) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def coloured(browser, scheme: str) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def wide(browser) -> None:
    """Nothing is wider than the window, however narrow that is: what has to be scrolls by itself."""
    for width in WIDTHS:
        resized(browser, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") == width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_scripts_all_tables_are_there(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((pages / "routes.html").as_uri())
        body = browser.find_element("tag name", "body").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for words in ("Maximum load beside the bound", "Load by level", "hottest links", "SHA-256"):
        assert words in body
    assert "Load of every link" not in body
    assert "Save JSON" not in body


@pytest.mark.skipif(AXE is None, reason="NETLOOM_AXE names no axe.min.js")
@pytest.mark.parametrize("name", [*KINDS, "result"])
def test_axe_finds_nothing(browser, pages, name):
    opened(browser, pages / f"{name}.html")
    browser.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; });")
    browser.execute_script(Path(str(AXE)).read_text())
    for scheme in ("light", "dark"):
        coloured(browser, scheme)
        found = browser.execute_async_script(
            "const told = (r) => r.violations.map((v) => [v.id, v.nodes[0].html]), done = arguments[0];"
            "axe.run().then((r) => done(told(r)))"
        )
        assert found == [], scheme
    coloured(browser, "")


SHOTS = os.environ.get("NETLOOM_SHOTS")
TALLEST = 2400
TIMELESS = """
for (const one of document.querySelectorAll("dd[data-at*=seconds]")) one.textContent = "–";
for (const table of document.querySelectorAll("table"))
  [...table.querySelectorAll("th[data-unit]")].forEach((head, k) => {
    if (/seconds|sha256/.test(head.dataset.key)) for (const row of table.tBodies[0].rows)
      row.querySelectorAll("td.n, td.t")[k].textContent = "–";
  });
"""
"""What a clock says, and sums of it, are another every time."""


@pytest.mark.skipif(SHOTS is None, reason="NETLOOM_SHOTS names no folder")
@pytest.mark.parametrize("name", KINDS)
def test_a_page_looks_as_it_did(browser, pages, name):
    image = pytest.importorskip("PIL.Image")
    folder, differ = Path(str(SHOTS)), []
    folder.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        coloured(browser, scheme)
        for width in WIDTHS:
            resized(browser, width)
            opened(browser, pages / f"{name}.html")
            browser.execute_script(TIMELESS)
            high = browser.execute_script("return document.documentElement.scrollHeight")
            resized(browser, width, min(high, TALLEST))
            browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            data = base64.b64decode(
                browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
            )
            file = folder / f"{name}-{width}-{scheme}.png"
            if file.exists():
                before, now = (np.asarray(image.open(one).convert("RGB")) for one in (file, io.BytesIO(data)))
                same = before.shape == now.shape and (before != now).any(axis=2).mean() <= 1e-3
                if not same:
                    file.with_suffix(".new.png").write_bytes(data)
                    differ.append(file.name)
            else:
                file.write_bytes(data)
    coloured(browser, "")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not differ, "look at *.new.png, and put them in place of those that were"

"""Every page of the built site in a browser, on a desktop and on a phone: `.ci/leg browser`.

    python docs/browse.py build/site build/pictures [BROWSER]

A page fails if its console has an error, a request or a picture fails, a link within the site leads nowhere, it is
wider than the screen, or a table scrolls away from the names of its rows. The search has to find argmax. The program
keeps pictures of some pages for a person to look at. BROWSER is the executable of a Chromium, by default Playwright's.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Browser, Page, sync_playwright

SCREENS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
PICTURES = ("index.html", "api/arrays.html", "conformance.html", "tutorial.html", "performance.html")
LONGEST = 6000
"""Pixels of a page that a picture shows."""

_FACTS = """() => ({
    links: [...document.querySelectorAll('a[href]')].map(each => each.href),
    anchors: [...document.querySelectorAll('[id]')].map(each => each.id),
    nameless: [...document.querySelectorAll('.table-wrapper')].filter(each => each.scrollWidth > each.clientWidth
        && getComputedStyle(each.querySelector('td')).position !== 'sticky').length,
    broken: [...document.images].filter(each => !each.complete || !each.naturalWidth).map(each => each.src),
    width: document.documentElement.scrollWidth,
    height: document.documentElement.scrollHeight,
})"""


def browse(browser: Browser, site: Path, address: str, pictures: Path) -> list[str]:
    """Return a line for each fault."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    problems = []
    links: dict[str, list[str]] = {}
    anchors: dict[str, set[str]] = {}
    for screen, size in SCREENS.items():
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport=size, color_scheme=scheme)
            wrong: list[str] = []
            _listen(tab, wrong)
            for page in pages if scheme == "light" else PICTURES:
                tab.goto(f"{address}/{page}", wait_until="load")
                # Pictures below the screen would load on scrolling only.
                tab.evaluate("() => document.querySelectorAll('img').forEach(each => each.loading = 'eager')")
                tab.wait_for_load_state("networkidle")
                there = tab.evaluate(_FACTS)
                wrong += [f"picture {each} is not there" for each in there["broken"]]
                if there["width"] > size["width"]:
                    wrong.append(f"is {there['width']} wide")
                if there["nameless"]:
                    wrong.append("has a table whose rows lose their names when it is scrolled")
                links[page], anchors[page] = there["links"], set(there["anchors"])
                if page in PICTURES:
                    name = page.replace("/", "-").removesuffix(".html")
                    height = min(there["height"], LONGEST)
                    tab.screenshot(
                        path=pictures / f"{name}-{screen}-{scheme}.png",
                        full_page=True,
                        clip={"x": 0, "y": 0, "width": size["width"], "height": height},
                    )
                problems += [f"{page} ({screen}): {each}" for each in wrong]
                wrong.clear()
            tab.close()
    problems += _dead_links(address, links, anchors, site)
    return [*problems, *_too_wide(browser, address), *_search_problems(browser, address)]


def _listen(tab: Page, wrong: list[str]) -> None:
    tab.on("console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    tab.on("requestfailed", lambda request: wrong.append(f"{request.url} failed"))
    tab.on("response", lambda answer: wrong.append(f"{answer.url}: {answer.status}") if answer.status >= 400 else None)


def _dead_links(address: str, links: dict[str, list[str]], anchors: dict[str, set[str]], site: Path) -> Iterator[str]:
    for page, addresses in links.items():
        for each in sorted(set(addresses)):
            target, anchor = map(unquote, urldefrag(each))
            if not target.startswith(f"{address}/"):
                continue
            name = target.removeprefix(f"{address}/").partition("?")[0] or "index.html"
            if not (site / name).is_file():
                yield f"{page}: {each} leads nowhere"
            elif anchor and name in anchors and anchor not in anchors[name]:
                yield f"{page}: {each} leads to no place on that page"


def _too_wide(browser: Browser, address: str) -> Iterator[str]:
    """Yield widths that do not fit: sidebars come and go between a phone and a large screen."""
    tab = browser.new_page()
    for page in PICTURES:
        tab.goto(f"{address}/{page}")
        for width in range(320, 2000, 40):
            tab.set_viewport_size({"width": width, "height": 900})
            if (wide := tab.evaluate("document.documentElement.scrollWidth")) > width:
                yield f"{page}: is {wide} wide on a screen of {width}"
    tab.close()


def _search_problems(browser: Browser, address: str) -> Iterator[str]:
    tab = browser.new_page()
    tab.goto(f"{address}/search.html?q=argmax")
    tab.wait_for_selector("#search-results li a", timeout=20_000)
    titles = tab.locator("#search-results li a").all_inner_texts()
    if not any("extremum.argmax" in title for title in titles):
        yield f"the search for argmax finds {titles[:5]} and not the function"
    tab.close()


def main(site: Path, pictures: Path, executable: str | None) -> int:
    """Serve the site to a browser, print its faults, and return the exit status."""
    pictures.mkdir(parents=True, exist_ok=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable)
            problems = browse(browser, site, f"http://127.0.0.1:{server.server_port}", pictures)
            browser.close()
        server.shutdown()
    print("\n".join(problems) or f"every page is as it should be; pictures are in {pictures}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if sys.argv[3:] else None))

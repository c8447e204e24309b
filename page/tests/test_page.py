"""Opens the page in headless Chromium, uses each of its modes, and takes pictures. Needs playwright and a Chromium.

    pip install playwright pytest && PAGE=build/voxshell.html PICTURES=DIR pytest page/tests

CHROMIUM names the program, if it is not Debian's chromium. Skipped where one of them is absent.
"""
import os
import pathlib
import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api")
ROOT = pathlib.Path(__file__).parents[2]
PAGE = pathlib.Path(os.environ.get("PAGE", ROOT / "build/voxshell.html")).resolve()
PICTURES = os.environ.get("PICTURES")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM or not PAGE.exists():
        pytest.skip(f"{'Chromium' if not CHROMIUM else PAGE} is absent")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--use-gl=angle", "--use-angle=swiftshader", "--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=["desktop", "phone"])
def page(browser, request):
    phone = request.param == "phone"
    context = browser.new_context(viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
                                  color_scheme="dark" if phone else "light", has_touch=phone, offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.goto(PAGE.as_uri())
    page.wait_for_selector("#figures td", timeout=120_000)
    page.name = request.param
    yield page
    context.close()
    assert not errors


def figures(page):
    rows = page.locator("#figures tr").all()
    return {row.locator("td").nth(0).inner_text(): row.locator("td").nth(1).inner_text() for row in rows}


def settle(page, name):
    page.wait_for_function(f"[...document.querySelectorAll('#figures td')].some((cell) => cell.textContent === {name!r})",
                           timeout=120_000)
    page.wait_for_timeout(500)


def picture(page, name):
    if PICTURES:
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{PICTURES}/{page.name}-{name}.png")


def test_each_mode_answers(page):
    assert int(figures(page)["triangles"].replace(",", "")) > 1000
    picture(page, "shape")
    page.locator("#level").fill("2")
    page.wait_for_function("[...document.querySelectorAll('#figures td')].some((cell) => cell.textContent.startsWith('parts of level 2'))")
    page.wait_for_timeout(500)
    parts = next(value for name, value in figures(page).items() if name.startswith("parts of level 2"))
    assert 2 < int(parts.replace(",", "")) <= 64
    picture(page, "level")
    page.locator("[data-mode=contacts]").click()
    settle(page, "contacts")
    assert figures(page)["contacts"] == "0"
    for _ in range(36):
        page.locator("#view").press("ArrowDown")
    settle(page, "depth")
    assert figures(page)["contacts"] != "0"
    picture(page, "contacts")
    page.locator("[data-mode=path]").click()
    settle(page, "first touch")
    for _ in range(36):
        page.locator("#view").press("ArrowUp")
    page.wait_for_timeout(3000)
    assert "% of the path" in figures(page)["first touch"]
    picture(page, "path")
    page.locator("[data-mode=nut]").click()
    settle(page, "clearance")
    picture(page, "nut")
    page.locator("#off").fill("0.25")
    settle(page, "deepest")


def test_a_file_is_cooked_and_a_wrong_one_is_named(page):
    page.locator("#file").set_input_files({"name": "t.obj", "mimeType": "text/plain", "buffer": TETRAHEDRON.encode()})
    page.wait_for_function("[...document.querySelectorAll('#figures td')].some((cell) => cell.textContent === '4')", timeout=60_000)
    shown = page.locator("#kind option:checked")
    assert shown.inner_text() == "t.obj"
    page.locator("#file").set_input_files({"name": "part.step", "mimeType": "text/plain", "buffer": b"ISO-10303-21;"})
    page.wait_for_selector("#message:not([hidden])", timeout=60_000)
    assert 'unknown mesh file type "step"; expected .obj, .stl or .ply' in page.locator("#message").inner_text()
    picture(page, "wrong-file")
    assert shown.inner_text() == "t.obj"
    page.locator("#kind").select_option("torus_knot")
    page.wait_for_selector("#message", state="hidden", timeout=60_000)
    assert page.locator("#kind option").first.inner_text() != "t.obj"

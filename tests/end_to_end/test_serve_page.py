"""The page in a real browser, used as a person would: teach, ask, correct, delete, come back."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers_service import Client, client_of, photographs
from playwright.sync_api import Browser, Page, expect, sync_playwright

pytestmark = pytest.mark.slow
CHROMIUM = os.environ.get("SAMOVAR_CHROMIUM") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
TOKEN = "0123456789abcdef"
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return photographs(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium (apt-get install chromium, or set SAMOVAR_CHROMIUM)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """A new visitor; whatever the browser refuses or reports as an error fails the test."""
    context = browser.new_context(permissions=["camera", "clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(30_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda entry: complaints.append(entry.text) if entry.type == "error" else 0)
    yield page
    context.close()
    # That a token is asked for is reported too, and no mistake.
    assert [text for text in complaints if "401" not in text] == []


def address_of(server: Client) -> str:
    return str(server.base_url)


def add_class(page: Page, name: str, paths: list[Path]) -> None:
    """Name a class and choose its photos, by keyboard where a person would."""
    page.get_by_role("textbox", name="class").first.fill(name)
    page.keyboard.press("Enter")
    page.get_by_label(f"Photos of {name}: choose photos").set_input_files(paths)
    card = page.get_by_role("article", name=f"Class {name}")
    expect(card.get_by_role("listitem")).to_have_count(len(paths), timeout=30_000)


def ask(page: Page, paths: list[Path]) -> None:
    page.get_by_label("Photos to ask about: choose photos").set_input_files(paths)


def test_a_person_teaches_asks_corrects_and_comes_back(page, photos, tmp_path):
    with client_of(tmp_path) as server:
        page.goto(address_of(server))
        expect(page.get_by_text("Nothing is taught yet")).to_be_visible()
        add_class(page, "bars", photos["bars"][:3])
        add_class(page, "disc", photos["disc"][:3])
        expect(page.get_by_role("status").first).to_contain_text("6 photos in 2 classes")
        notes = tmp_path / "notes.jpg"
        notes.write_text("not a photo")
        ask(page, [photos["disc"][5], notes])
        expect(page.get_by_role("article", name="5.jpg: disc")).to_be_visible()
        expect(page.get_by_text("notes.jpg is not an image")).to_be_visible()
        # What is taught later changes what was answered before.
        ask(page, [photos["checks"][5]])
        expect(page.locator(".answer")).to_have_count(2)
        add_class(page, "checks", photos["checks"][:3])
        expect(
            page.locator(".answer").first.get_by_text("checks", exact=True).first
        ).to_be_visible()
        # An example is deleted, then a class.
        card = page.get_by_role("article", name="Class bars")
        card.get_by_role("button", name="Delete 0.jpg").click()
        expect(card.get_by_text("2 photos")).to_be_visible()
        page.get_by_role("button", name="Delete class bars").click()
        page.get_by_role("button", name="Delete", exact=True).last.click()
        expect(card).to_have_count(0)
        address = page.url
    # The server is started again on another port, and the task is still there.
    with client_of(tmp_path) as server:
        page.goto(f"{address_of(server)}#{address.partition('#')[2]}")
        expect(page.get_by_role("article", name="Class checks")).to_be_visible()
        ask(page, [photos["checks"][6]])
        expect(page.get_by_role("article", name="6.jpg: checks")).to_be_visible()


def test_the_example_does_something_before_anything_is_uploaded(page, tmp_path):
    with client_of(tmp_path) as server:
        page.goto(address_of(server))
        page.get_by_role("button", name="Show me an example").click()
        for fruit in ("apple", "pear", "lemon"):
            expect(page.get_by_role("article", name=f"new {fruit}.png: {fruit}")).to_be_visible()
        expect(
            page.get_by_role("article", name="something else.png: none of these")
        ).to_be_visible()
        expect(page.locator(".map image")).to_have_count(12)
        with page.expect_download() as downloaded:
            page.get_by_role("button", name="Download the task").click()
        assert downloaded.value.suggested_filename.endswith(".safetensors")
        page.get_by_role("button", name="Copy for shell").click()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"samovar predict {downloaded.value.suggested_filename} photo.jpg"


def test_the_next_photo_gets_its_label_by_one_click(page, photos, tmp_path):
    with client_of(tmp_path) as server:
        page.goto(address_of(server))
        add_class(page, "bars", photos["bars"][:2])
        add_class(page, "disc", photos["disc"][:2])
        heap = [*photos["bars"][4:6], *photos["disc"][4:6]]
        page.get_by_label("Unlabelled photos: choose photos").set_input_files(heap)
        expect(page.get_by_text("4 photos in the heap")).to_be_visible()
        page.locator(".next").get_by_role("button", name="disc").click()
        expect(page.get_by_text("3 photos in the heap")).to_be_visible()
        expect(
            page.get_by_role("article", name="Class disc").get_by_text("3 photos")
        ).to_be_visible()
        # The camera (a made-up one here) is another way to give photos.
        page.get_by_label("Photos of bars: use the camera").click()
        expect(page.locator("video")).to_have_js_property("videoWidth", 640)
        page.get_by_role("button", name="Take a photo").click()
        expect(page.get_by_text("1 photo taken.")).to_be_visible()
        page.get_by_role("button", name="Done").click()
        expect(
            page.get_by_role("article", name="Class bars").get_by_text("3 photos")
        ).to_be_visible()


def test_the_page_asks_for_the_token_and_names_are_only_text(page, photos, tmp_path):
    with client_of(tmp_path, token=TOKEN) as server:
        page.goto(address_of(server))
        page.get_by_role("textbox", name="Token").fill("wrong-wrong-wrong-wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("That is not the token.")).to_be_visible()
        page.get_by_role("textbox", name="Token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        add_class(page, HOSTILE, photos["bars"][:2])
        add_class(page, "disc", photos["disc"][:2])
        expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
        thumbnails = page.locator(".photo img")
        expect(thumbnails).to_have_count(4)
        for number in range(4):
            expect(thumbnails.nth(number)).not_to_have_js_property("naturalWidth", 0)
        ask(page, [photos["bars"][5]])
        expect(page.locator(".answer")).to_have_count(1)
        assert page.title() == "samovar: teach it by a few photos"
        # A link with the token in the part that is never sent signs in at once.
        page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.goto(f"{address_of(server)}#token={TOKEN}")
        expect(page.get_by_role("article", name="Class disc")).to_be_visible()
        assert TOKEN not in page.url
        page.goto("about:blank")  # else it would miss its photos when the server is gone


def drop(page: Page, path: Path, target: str) -> None:
    """Drop a file on a place of the page, as a mouse would."""
    data = page.evaluate_handle(
        """([bytes, name]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], name, { type: "image/jpeg" }));
            return transfer;
        }""",
        [list(path.read_bytes()), path.name],
    )
    for event in ("dragover", "drop"):
        page.dispatch_event(target, event, {"dataTransfer": data})


def test_a_folder_of_class_folders_is_taught_at_once(page, photos, tmp_path):
    with client_of(tmp_path / "tasks") as server:
        page.goto(address_of(server))
        page.locator("#folders").set_input_files(photos["bars"][0].parents[1])
        for kind in photos:
            expect(page.get_by_role("article", name=f"Class {kind}")).to_be_visible()
        expect(page.get_by_role("status").first).to_contain_text("24 photos in 3 classes")
        drop(page, photos["disc"][0], "#ask-zone .zone")
        expect(page.get_by_role("article", name="0.jpg: disc")).to_be_visible()

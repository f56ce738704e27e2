"""Draw docs/service.png: the page of `samovar serve` after it was taught four products.

    python benchmarks/service_picture.py grocery-photos.zip --out docs/service.png

Needs Chromium. The archive has folders of 20 products. They are chosen by a rule and not by hand:
of every fifth product by name the first four photographs are taught and the ninth is asked, and the
first photograph of each product that follows one of these is asked as well.
"""

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import tyro
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright
from readme_picture import products

from samovar.core.files import write_whole

EXAMPLES = 4
EVERY = 5
ASKED = 8
WIDTH = 1180


def teach_and_ask(page: Page, photos: list[list[Path]]) -> None:
    """Use the page as a person would."""
    taught = photos[::EVERY]
    for paths in taught:
        name = paths[0].parent.name.replace("-", " ")
        page.locator("#class-name").fill(name)
        page.keyboard.press("Enter")
        page.get_by_label(f"Photos of {name}: choose photos").set_input_files(paths[:EXAMPLES])
        card = page.get_by_role("article", name=f"Class {name}")
        expect(card.get_by_role("listitem")).to_have_count(EXAMPLES, timeout=60_000)
    questions = [paths[ASKED] for paths in taught]
    strangers = [paths[0] for paths in photos[1::EVERY]]
    asked = [*questions, *strangers]
    page.get_by_label("Photos to ask about: choose photos").set_input_files(asked)
    expect(page.locator(".answer")).to_have_count(len(asked), timeout=60_000)
    page.wait_for_load_state("networkidle")


def smaller(picture: bytes) -> bytes:
    """Return a PNG file of two thirds the size and 256 colours, those of the classes among them."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        size = (image.width * 2 // 3, image.height * 2 // 3)
        reduced = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        reduced.quantize(256, kmeans=3).save(file, "PNG", optimize=True)
    return file.getvalue()


def main(archive: Path, /, out: Path, dark: bool = False) -> None:
    """Start the server, use its page, and write the picture.

    Args:
        archive: The zip archive of grocery photographs.
        out: The picture to write.
        dark: Whether to draw the dark page.
    """
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(archive) as opened:
        opened.extractall(f"{scratch}/photos")
        photos = products(Path(scratch) / "photos")
        command = [sys.executable, "-m", "samovar", "serve", "--port", "0", "--tasks", "tasks"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=scratch)
        assert server.stdout is not None
        url = server.stdout.readline().split()[3]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("SAMOVAR_CHROMIUM") or shutil.which("chromium"),
                args=["--no-sandbox"],
            )
            scheme = "dark" if dark else "light"
            size = {"width": WIDTH, "height": 900}
            page = browser.new_page(color_scheme=scheme, viewport=size)
            page.goto(url)
            teach_and_ask(page, photos)
            page.evaluate("document.activeElement.blur()")
            bottom = page.locator("#next").bounding_box()
            assert bottom is not None
            area = {"x": 0, "y": 0, "width": WIDTH, "height": bottom["y"] - 20}
            picture = page.screenshot(full_page=True, clip=area)
            browser.close()
        server.send_signal(signal.SIGTERM)
        server.wait()
    write_whole(out, smaller(picture))
    print(f"Written: {out} ({out.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    tyro.cli(main)

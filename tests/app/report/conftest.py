"""The browser that shows the pages."""

import shutil

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="package")  # its event loop must not last into other tests
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("install Chromium (Debian: apt install chromium) to look at the report")
    with playwright.sync_playwright() as session:
        running = session.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()

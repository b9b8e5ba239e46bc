# SPDX-License-Identifier: Apache-2.0
"""The dashboard in Chromium, used as an operator uses it: by links, buttons and the menu.

It counts opened pages and clicks.
"""

import pathlib
import re
import subprocess
import tempfile

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from run_page import free_port

WIDTH, HEIGHT = 1280, 800
# The size that no picture of the docs exceeds.
MOST_BYTES = 120_000


class Desk:
    def __init__(self, login, url, images):
        self.login, self.url, self.images = login, url, images
        self.pages = self.clicks = 0

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for word in [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
            "--remote-debugging-pipe", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={self.profile.name}",
        ]:
            options.add_argument(word)
        service = webdriver.ChromeService("/usr/bin/chromedriver", port=free_port())
        self.browser = webdriver.Chrome(options=options, service=service)
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        self.theme("light")
        return self

    def __exit__(self, *_):
        self.browser.quit()
        self.profile.cleanup()

    def theme(self, name):
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self):
        self.browser.get(self.login + "/")
        self.pages += 1
        self.wait(lambda: self.text("h1"))

    # The page renews itself, which may replace an element between the search and its use.
    def wait(self, what, seconds=20):
        """Waits for a condition, or for a text that matches the pattern on the page."""
        is_true = what if callable(what) else lambda: re.search(what, self.text("main"))
        waiter = WebDriverWait(
            self.browser, seconds, poll_frequency=0.1, ignored_exceptions=[StaleElementReferenceException])
        return waiter.until(lambda _: is_true(), f"still not: {what}, on {self.browser.current_url}")

    def text(self, css):
        return self.browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def figure(self, name):
        """A number of the overview."""
        for card in self.browser.find_elements(By.CSS_SELECTOR, ".card"):
            number, label = card.text.split("\n")
            if label == name:
                return int(re.sub(r"\D", "", number))
        return -1

    def follow(self, element):
        """Clicks on a link or button, and waits for the next page."""
        self.browser.execute_script("document.documentElement.dataset.left = ''")
        element.click()
        self.clicks += 1
        self.pages += 1
        self.wait(lambda: self.browser.execute_script(
            "return document.readyState === 'complete' && !('left' in document.documentElement.dataset)"
            " && document.querySelector('h1') !== null"))

    def click(self, label, around, holds):
        """Follows the first link with this text, within an element of this kind that holds another text."""

        def find():
            for place in self.browser.find_elements(By.CSS_SELECTOR, f"main {around}"):
                if holds in place.text:
                    for link in place.find_elements(By.CSS_SELECTOR, "a"):
                        if link.text == label:
                            self.follow(link)
                            return True
            return False

        self.wait(find)

    def click_first_job(self):
        self.wait(lambda: self.follow(self.browser.find_element(By.CSS_SELECTOR, "td a[href^='/jobs/']")) is None)

    def menu(self, name):
        self.wait(lambda: self.follow(self.browser.find_element(By.LINK_TEXT, name)) is None)

    def confirm(self):
        self.wait(lambda: self.follow(self.browser.find_element(By.CSS_SELECTOR, "form.act button")) is None)

    def picture(self, name, dark=False):
        """Saves the visible part of the page as a small PNG."""
        if self.images is None:
            return
        self.images.mkdir(parents=True, exist_ok=True)
        if dark:
            self.theme("dark")
        path = pathlib.Path(self.images, f"{name}.png")
        self.browser.save_screenshot(str(path))
        subprocess.run(
            ["pngquant", "--force", "--strip", "--speed", "1", "--output", str(path), "64", str(path)], check=True)
        if path.stat().st_size > MOST_BYTES:
            raise SystemExit(f"incidents: {path} has more than {MOST_BYTES} bytes")
        self.theme("light")

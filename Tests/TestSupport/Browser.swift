// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// Headless Chromium, which Selenium controls as a user does: it opens pages, clicks and types.
public enum Browser {
    private static let driver = "/usr/bin/chromedriver"

    /// Whether Chromium is installed. The project's setup installs it only when it runs as root.
    public static var isInstalled: Bool { unsafe access(driver, X_OK) == 0 }

    /// Runs lines of Python that control the browser. The program fails if the lines fail.
    ///
    /// The lines can use these names:
    /// - `browser`: the Selenium driver.
    /// - `find(css)`, `text(css)`, `texts(css)` and `click(css)`: they wait up to 15 s for an element.
    /// - `until(test)`: it waits up to 15 s for a condition.
    /// - `words`: the arguments `words` of this function.
    ///
    /// - Returns: the lines that the program printed. Behind them follow the messages of the browser console, as lines
    ///   that begin with `console:`.
    public static func run(_ program: String, _ words: [String] = []) throws -> [String] {
        let port = try TargetServer.freePort()
        let (status, output) = try ChildProcess.run(
            [try ProjectFolder.python(), "-c", prelude, driver, "\(port)", program] + words)
        guard status == 0 else { throw TestFault(description: output) }
        return output.split(separator: "\n").map(String.init)
    }

    /// Chromium cannot use its sandbox as root. The project itself serves all pages that the browser opens. The browser
    /// resolves no names and sends requests only to 127.0.0.1.
    private static let prelude = #"""
        import sys, tempfile, traceback
        from selenium import webdriver
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys
        from selenium.webdriver.support.ui import Select, WebDriverWait

        driver, port, program, *words = sys.argv[1:]
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        for word in [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
            "--remote-debugging-pipe", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={profile.name}",
        ]:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver, port=int(port)))
        try:
            # A page may replace an element between the search and its use. The search is then repeated.
            patience = WebDriverWait(
                browser, 15, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException])
            until = lambda test: patience.until(lambda _: test())
            find = lambda css: until(lambda: browser.find_elements(By.CSS_SELECTOR, css))[0]
            texts = lambda css: until(lambda: browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", css))
            text = lambda css: texts(css)[0]
            click = lambda css: until(lambda: find(css).click() is None)
            exec(program)
            for entry in browser.get_log("browser"):
                print("console:", entry["level"], entry["message"].replace("\n", " "))
        except Exception:
            traceback.print_exc(file=sys.stdout)
            sys.exit(1)
        finally:
            browser.quit()
            profile.cleanup()
        """#
}

// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The page of a job in a browser.
@Suite(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
struct JobPageBrowserTests {
    /// A job whose request, answer, error and configuration hold markup in each field that its page shows.
    private static func hostileJob(_ queue: borrowing TestQueue) throws -> Int64 {
        let evil = #""><script>window.owned=1</script><img src=x onerror=window.owned=2>"#
        let json = evil.replacing("\"", with: #"\""#)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, headers, rules, stub) values
              ('\(evil)', 'http://h/', '{"X-Service": "\(json)"}',
               '[{"name": "\\"><script>window.owned=1</script>", "status": 418, "do": "fail", "error": "$.text"}]',
               '[{"status": 418, "headers": {"X-Answer": "\(json)", "Content-Type": "text/html"}, "body": {"\(json)": "\(json)"}}]')
            """)
        return try queue.insert(
            "service, url, query, method, headers, body_json, tag, queue, lane, metadata, max_attempts",
            """
            '\(evil)', 'x/%22%3E%3Cscript%3E', '{"q": "\(json)"}', 'POST', '{"X-Job": "\(json)"}', '{"\(json)": ["\(json)"]}',
            '\(evil)', '\(evil)', '\(evil)', '{"\(json)": "\(json)"}', 1
            """)
    }

    @Test func `no stored field of a job runs as markup, and each is shown as text`() throws {
        let queue = try TestQueue()
        let id = try Self.hostileJob(queue)
        let watched = try WatchedWorker(queue.database)
        try queue.wait(for: id, toBe: "failed")
        let shown = try Browser.run(
            """
            url, job = words
            browser.get(f"{url}/jobs/{job}")
            find("section.answer")
            browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
            assert browser.execute_script("return window.owned") is None
            assert len(browser.find_elements(By.CSS_SELECTOR, "main img, main script, main iframe, main object")) == 0
            seen = text("main")
            for part in [".headline", ".facts", ".request", ".answer", ".copies", ".why"]:
                print(part, text(part).count("<script>") > 0)
            print(browser.execute_script(
                "return [...document.querySelectorAll('main a')].every(e => e.getAttribute('href').startsWith('/'))"))
            """, [watched.url, "\(id)"])
        #expect(
            shown.filter { !$0.hasSuffix("True") } == [".headline False"] || shown.allSatisfy { $0.hasSuffix("True") },
            "\(shown)")
    }

    @Test func `texts are copied by keyboard, and the copy is announced`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert("url, run_at", "'http://h/a', now() + interval '1 h'")
        let shown = try Browser.run(
            """
            url, job = words
            browser.get(f"{url}/jobs/{job}")
            button = find("button[aria-label='Copy SQL: cancel it']")
            # The button is reached by the keyboard alone.
            for _ in range(200):
                browser.switch_to.active_element.send_keys(Keys.TAB)
                if browser.switch_to.active_element == button:
                    break
            print(browser.switch_to.active_element == button)
            button.send_keys(Keys.ENTER)
            until(lambda: button.text == "Copied")
            print(text("[role=status]"))
            print(find("[role=status]").get_attribute("aria-live"))
            field = find("header input")
            field.send_keys(Keys.CONTROL, "v")
            print(field.get_attribute("value"))
            """, [watched.url, "\(id)"])
        #expect(shown == ["True", "Copied SQL: cancel it", "polite", "select postrider.cancel(\(id));"], "\(shown)")
    }

    @Test func `a live page keeps the focus and what a reader has opened`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert(
            "method, url, run_at, body_json", "'POST', 'http://h/a', now() + interval '1 h', '{\"a\": {\"b\": 1}}'")
        let shown = try Browser.run(
            """
            url, job = words
            browser.get(f"{url}/jobs/{job}")
            find(".json details").find_element(By.TAG_NAME, "summary").click()
            button = find("button[aria-label='Copy curl command']")
            browser.execute_script("arguments[0].focus()", button)
            browser.execute_script("document.querySelector('main').isOld = true; return renew()")
            print(browser.execute_script("return document.querySelector('main').isOld === true"))
            print(browser.execute_script("return document.activeElement.getAttribute('aria-label')"))
            print(browser.execute_script("return document.querySelector('.json details').open"))
            """, [watched.url, "\(id)"])
        #expect(shown == ["False", "Copy curl command", "False"], "\(shown)")
    }

    @Test func `at 390 px the page of a job with all its parts does not scroll sideways`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let chain = try queue.submit(
            to: target,
            """
            {"name": "signup", "chain": [
              {"name": "a-name-of-some-length", "url": "URL/ok/\(String(repeating: "long", count: 60))", "method": "POST",
               "headers": {"X-Trace": "\(String(repeating: "t", count: 200))"},
               "body_json": {"a": {"b": {"c": {"d": "\(String(repeating: "e", count: 300))"}}}}},
              {"url": "URL/ok/2"}]}
            """)
        try queue.wait(for: chain, toBe: "succeeded")
        let step = try queue.number("select min(id) from postrider.job_status where kind = 'request'")
        let shown = try Browser.run(
            """
            url, *jobs = words
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
            for job in jobs:
                browser.get(f"{url}/jobs/{job}")
                find("main")
                browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
                print(browser.execute_script("return document.documentElement.scrollWidth"))
            """, [watched.url, "\(step)", "\(chain)"])
        #expect(shown == ["390", "390"], "\(shown)")
    }
}

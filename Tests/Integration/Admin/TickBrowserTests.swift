// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Ticked jobs, suggested names and the picture of a chain, in a browser.
@Suite(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
struct TickBrowserTests {
    private static func login(_ acting: ActingWorker) -> String {
        "http://ada:\(ActingWorker.token)@127.0.0.1:\(acting.watched.pages.port)"
    }

    @Test(arguments: [("light", 1280), ("dark", 390)])
    func `a person ticks jobs and acts on just these, by keyboard alone`(theme: String, width: Int) throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(5, "url, queue", "'http://h/' || i, 'mail'")
        let shown = try Browser.run(
            """
            login, theme, width = words
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                {"width": int(width), "height": 900, "deviceScaleFactor": 1, "mobile": int(width) < 500})
            browser.get(login + "/jobs?queue=mail")
            find("h1")
            def press(key): browser.switch_to.active_element.send_keys(key)
            def here(): return browser.switch_to.active_element
            def tab_to(test):
                for _ in range(80):
                    if test(here()): return
                    press(Keys.TAB)
                raise AssertionError("the Tab key does not reach it")
            for job in ["4", "2"]:
                tab_to(lambda e: e.get_attribute("name") == "ids" and e.get_attribute("value") == job)
                # Its outline shows the focus, and its label names it.
                assert here().accessible_name == f"job {job}, ready", here().accessible_name
                assert browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle") != "none"
                press(Keys.SPACE)
            print(text("output"))
            # A live page waits while boxes are ticked.
            browser.execute_script("document.activeElement.blur(); document.querySelector('main').isOld = true;"
                "return renew()")
            print(browser.execute_script("return document.querySelector('main').isOld === true"))
            tab_to(lambda e: e.get_attribute("value") == "cancel" and e.tag_name == "button")
            press(Keys.ENTER)
            until(lambda: "/act" in browser.current_url)
            print(text(".why"))
            assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
            tab_to(lambda e: e.get_attribute("class") == "danger")
            press(Keys.ENTER)
            until(lambda: browser.current_url.endswith("/jobs?queue=mail"))
            print([box.get_attribute("value") for box in browser.find_elements(By.CSS_SELECTOR, ".tick :checked")])
            """, [Self.login(acting), theme, "\(width)"])
        try #require(shown.count == 4, "\(shown)")
        #expect(shown[0] == "2 ticked. The list stands still.")
        #expect(shown[1] == "True")
        #expect(shown[2].hasPrefix("At once, this changes 2 jobs."))
        #expect(shown[3] == "[]")
        #expect(
            try queue.rows("select id::text from postrider.job_status where state = 'cancelled' order by id")
                == [["2"], ["4"]])
        #expect(try queue.text("select target::text from postrider.admin_log") == #"{"ids": [2, 4]}"#)
    }

    @Test(arguments: [true, false])
    func `the box for all takes each job of the page, with the script and without it`(hasScript: Bool) throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(6, "url, queue", "'http://h/' || i, 'mail'")
        let shown = try Browser.run(
            """
            login, script = words
            browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": script == "false"})
            browser.get(login + "/jobs?queue=mail&limit=4")
            box = lambda css: browser.find_element(By.CSS_SELECTOR, css)
            box("[data-all]").click()
            print(len(browser.find_elements(By.CSS_SELECTOR, ".tick :checked")))
            if script == "true":
                box(".tick [value='5']").click()
                print(box("[data-all]").is_selected(), box("[data-all]").get_property("indeterminate"))
                box("[data-all]").click()
            box("button[value=cancel]").click()
            until(lambda: "/act" in browser.current_url)
            print(browser.current_url.split("ids=", 1)[1].split("&")[0].replace("%2C", ","))
            print(box(".why").text)
            box("form.act button").click()
            until(lambda: browser.current_url.endswith("/jobs?queue=mail&limit=4"))
            """, [Self.login(acting), "\(hasScript)"])
        let expected = hasScript ? ["4", "False True", "6,5,4,3"] : ["0", "6,5,4,3"]
        #expect(Array(shown.prefix(expected.count)) == expected, "\(shown)")
        #expect(shown.contains { $0.hasPrefix("At once, this changes 4 jobs.") }, "\(shown)")
        #expect(
            try queue.rows("select id::text from postrider.job_status where state = 'ready' order by id")
                == [["1"], ["2"]])
    }

    @Test func `two causes of failures are ticked and retried by keyboard in the dark theme at 390 px`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database)
        try queue.insert(2, "url, lane, max_attempts", "'\(target.url)/status/500/' || i, 'a', 1")
        try queue.insert(1, "url, lane, max_attempts", "'\(target.url)/status/503/' || i, 'b', 1")
        try queue.insert(1, "url, lane, max_attempts", "'\(target.url)/status/404/' || i, 'c', 1")
        try queue.waitUntilDone()
        let shown = try Browser.run(
            """
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True})
            browser.get(words[0] + "/failures")
            find("h1")
            for lane in ["a", "b"]:
                box = browser.find_element(By.CSS_SELECTOR, f".tick input[value*='lane={lane}']")
                assert f"lane {lane}" in box.accessible_name, box.accessible_name
                box.send_keys(Keys.SPACE)
            print(text("output"), browser.execute_script("return document.documentElement.scrollWidth"))
            find("button[value=retry]").send_keys(Keys.ENTER)
            until(lambda: "/act" in browser.current_url)
            print(text(".why"))
            find("form.act button").send_keys(Keys.ENTER)
            until(lambda: "It is done." in text(".why"))
            print(text("pre").count("select postrider.retry"))
            """, [Self.login(acting)])
        try #require(shown.count == 3, "\(shown)")
        #expect(shown[0] == "2 ticked. The list stands still. 390")
        #expect(shown[1].hasPrefix("This changes at most 3 jobs, 500 at a time"), "\(shown)")
        #expect(shown[2] == "2", "\(shown)")
        #expect(try queue.number("select count from postrider.admin_log") == 3)
    }

    @Test func `a field suggests existing names, and markup in names stays text`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database)
        let evil = #"'"><img src=x onerror="document.title=1">'"#
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('billing', '\(target.url)/');
            insert into postrider.lanes (name, max_in_flight) values ('quiet', 1);
            insert into postrider.operations (name, spec) values ('ping', '{"url": "http://h/"}');
            insert into postrider.queues (name) values ('night');
            """)
        try queue.insert(2, "url, tag, lane", "'\(target.url)/ok/' || i, \(evil), \(evil)")
        let chain = try queue.submit(
            to: target,
            """
            {"name": "<b>bold</b>", "chain": [
              {"name": "</text><script>document.title=2</script>", "url": "URL/ok/1"},
              {"name": "letters", "batch": [{"url": "URL/ok/2"}, {"url": "URL/ok/3"}]}, {"url": "URL/ok/4"}]}
            """)
        try queue.waitUntilDone()
        let shown = try Browser.run(
            """
            login, chain = words
            browser.get(login + "/jobs")
            names = lambda field: browser.execute_script(
                "return [...document.querySelector(`[name=${arguments[0]}]`).list.options].map(o => o.value)", field)
            for field in ["queue", "service", "lane", "tag", "operation"]:
                print(field, names(field))
            for page, field in [("/queues", "queue"), ("/lanes", "lane"), ("/services", "service"),
                ("/operations", "operation"), ("/failures", "tag"), ("/cache", "service")]:
                browser.get(login + page)
                assert names(field), page
            browser.get(login + "/jobs")
            print(find("[name=lane]").aria_role)
            # The suggestion is used as it is.
            find("[name=tag]").send_keys(names("tag")[0], Keys.ENTER)
            until(lambda: "tag=" in browser.current_url)
            print(len(browser.find_elements(By.CSS_SELECTOR, "tbody tr")), browser.title)
            browser.get(login + f"/jobs/{chain}")
            boxes = browser.find_elements(By.CSS_SELECTOR, ".flow .box")
            print(len(boxes), browser.title, browser.find_elements(By.CSS_SELECTOR, ".flow script, .flow b"))
            print(browser.execute_script("return document.querySelectorAll('.flow [tabindex=\\"0\\"]').length"))
            # The picture leads to a job by the pointer. By the keyboard, the tree below it does.
            boxes[0].click()
            until(lambda: text("h1") == f"Job {int(chain) + 1}")
            print(len(browser.find_elements(By.CSS_SELECTOR, ".flow .here")))
            """, [Self.login(acting), "\(chain)"])
        try #require(shown.count == 10, "\(shown)")
        #expect(shown[0] == "queue ['default', 'night']")
        #expect(shown[1] == "service ['billing']")
        #expect(shown[2].contains("'quiet'") && shown[2].contains("onerror"), "\(shown)")
        #expect(shown[3].contains("onerror") && shown[4] == "operation ['ping']", "\(shown)")
        #expect(shown[5] == "combobox")
        #expect(shown[6] == "2 Jobs · Postrider")
        #expect(shown[7] == "5 Job \(chain) · Postrider []", "\(shown)")
        #expect(shown[8] == "0" && shown[9] == "1", "\(shown)")
    }
}

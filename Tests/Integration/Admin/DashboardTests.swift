// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// The dashboard in a browser.
@Suite(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
struct DashboardTests {
    @Test func `the dashboard leads from the overview to the reason why a job failed or waits`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        _ = try queue.insert("url", "'\(target.url)/ok/1'")
        let bad = try queue.insert("url, max_attempts, tag", "'\(target.url)/status/404', 1, 'invoice'")
        try queue.waitUntilDone()
        try queue.connection.execute("select postrider.pause_lane('held')")
        let held = try queue.insert("url, lane", "'\(target.url)/ok/2', 'held'")
        let shown = try Browser.run(
            """
            url, bad, held = words
            browser.get(url)
            print(texts(".card"))
            print(text("main").count("held"))
            click(f"a[href='/jobs/{bad}']")
            print(text("h1"))
            print(text(".why"))
            print(texts(".copies pre")[-1])
            find("header input").send_keys(held, Keys.ENTER)
            until(lambda: text("h1") == f"Job {held}")
            print(text(".why"))
            click("nav a[href='/jobs']")
            Select(find("select[name=state]")).select_by_visible_text("failed")
            click("form.filter button")
            until(lambda: "state=failed" in browser.current_url)
            print([row.split()[0] for row in texts("tbody tr")])
            find("input[name=tag]").send_keys("none such", Keys.ENTER)
            print(text("main .empty"))
            for place in ["Failures", "Queues", "Lanes", "Services", "Operations", "Credentials", "Schedules",
                "Workers", "Cache", "Clients"]:
                click(f"nav a[href='/{place.lower()}']")
                until(lambda: text("h1") == place)
            """, [watched.url, "\(bad)", "\(held)"])
        try #require(shown.count == 8, "\(shown)")
        #expect(
            shown[0]
                == #"['1\nready', '0\nrunning', '0\nscheduled', '0\nwaiting', '1\nsucceeded', '1\nfailed', '0\nunknown']"#
        )
        #expect(shown[1] == "1")
        #expect(shown[2] == "Job \(bad)")
        #expect(shown[3].contains("http_status") && shown[3].contains("404"))
        #expect(shown[4] == "worker retry \(bad)", "\(shown)")
        #expect(shown.contains { $0.contains("resume_lane('held')") }, "\(shown)")
        #expect(shown.contains("['\(bad)']"), "\(shown)")
        #expect(shown.last == "No job matches these filters.")
    }

    @Test func `a page updates itself and shows a warning if the worker does not answer`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert("url, run_at", "'\(target.url)/ok/1', now() + interval '1 h'")
        let shown = try Browser.run(
            """
            import os, psycopg
            url, job, database, worker = words
            browser.get(f"{url}/jobs/{job}")
            print(text(".state"))
            browser.execute_script("window.isTheSamePage = true")
            with psycopg.connect(database) as connection:
                connection.execute("select postrider.reschedule(%s, now())", [job])
            until(lambda: text(".state") == "succeeded")
            print(browser.execute_script("return window.isTheSamePage"))
            # What has ended does not change any more, so nothing is asked for.
            print(len(browser.find_elements(By.CSS_SELECTOR, "main[data-live]")))
            browser.get(url)
            find("main[data-live]")
            os.kill(int(worker), 15)
            find("html[data-lost]")
            print(browser.execute_script("return getComputedStyle(document.body, '::before').content"))
            """, [watched.url, "\(id)", queue.database, "\(watched.worker.pid)"])
        #expect(Array(shown.prefix(3)) == ["scheduled", "True", "0"], "\(shown)")
        #expect(shown.dropFirst(3).first?.contains("does not answer") == true, "\(shown)")
    }

    @Test func `text in a form field stays while the page updates itself`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let shown = try Browser.run(
            """
            browser.get(words[0] + "/jobs")
            browser.execute_script("document.querySelector('main').isOld = true")
            find("input[name=queue]").send_keys("mai")
            browser.execute_script("return renew()")
            print(find("input[name=queue]").get_attribute("value"))
            browser.execute_script("document.activeElement.blur(); return renew()")
            print(browser.execute_script("return document.querySelector('main').isOld === true"))
            """, [watched.url])
        #expect(shown == ["mai", "False"])
    }

    @Test func `text from jobs and APIs is escaped on every page`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let target = try HostileServer(ports: 23_500...23_519)
        let evil = #"'"><script>window.owned=1</script><img src=x onerror=window.owned=2>\u{202e}"#
        let quoted = evil.replacing("'", with: "''").replacing(#"\u{202e}"#, with: "\u{202e}")
        try queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('\(quoted)', 'http://h/')")
        // The target answers with the request's body.
        let id = try queue.insert(
            "method, url, tag, queue, lane, metadata, body_json",
            """
            'POST', '\(target.url("/echo"))', '\(quoted)', '\(quoted)', '\(quoted)', jsonb_build_object('\(quoted)', 1),
            jsonb_build_object('a', '\(quoted)')
            """)
        try queue.wait(for: id, toBe: "succeeded")
        let shown = try Browser.run(
            """
            url, job = words
            seen = ""
            for place in ["/", "/jobs", f"/jobs/{job}", "/lanes", "/services", "/queues", "/failures", "/operations"]:
                browser.get(url + place)
                seen += text("main")
                assert browser.execute_script("return window.owned") is None, place
                assert len(browser.find_elements(By.CSS_SELECTOR, "img, main script")) == 0, place
            print(seen.count("<script>window.owned=1</script><img src=x onerror=window.owned=2>"))
            print(seen.count(chr(0x202e)), seen.count("\\\\u{202e}") >= 5)
            browser.get(url + "/jobs?" + "tag=%22%3E%3Cscript%3Ewindow.owned=3%3C/script%3E")
            assert browser.execute_script("return window.owned") is None
            print(find("input[name=tag]").get_attribute("value"))
            browser.get(url + "/jobs")
            click("tbody td:nth-child(3) a")
            print(len(texts("tbody tr")))
            """, [watched.url, "\(id)"])
        let count = try #require(shown.first.flatMap(Int.init), "\(shown)")
        #expect(count >= 6, "\(shown)")
        #expect(Array(shown.dropFirst()) == ["0 True", #""><script>window.owned=3</script>"#, "1"], "\(shown)")
    }

    @Test func `a browser logs in with the token as the password`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("token", "0123456789abcdef0123\n")
        let watched = try WatchedWorker(queue.database, ["--http-token-file", folder.path("token")])
        let shown = try Browser.run(
            """
            port = words[0]
            browser.get(f"http://127.0.0.1:{port}/")
            assert "Overview" not in browser.page_source
            browser.get(f"http://ada:0123456789abcdef0123@127.0.0.1:{port}/")
            print(text("h1"))
            # The page reads itself anew with what the browser knows.
            browser.execute_script("document.querySelector('h1').textContent = 'old'")
            until(lambda: text("h1") == "Overview")
            print(browser.execute_script("return getComputedStyle(document.querySelector('header')).display"))
            """, ["\(watched.pages.port)"])
        #expect(shown.prefix(2) == ["Overview", "flex"], "\(shown)")
        // The refused page is the only one with console messages.
        #expect(shown.dropFirst(2).allSatisfy { $0.contains("401") }, "\(shown)")
    }
}

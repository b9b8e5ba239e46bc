// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The pages of the dashboard as the worker serves them.
struct DashboardPageTests {
    private static func read(_ watched: WatchedWorker, _ path: String) throws -> (status: Int, text: String) {
        let answer = try watched.pages.read(path)
        return (answer.status, answer.lines.joined(separator: "\n"))
    }

    @Test func `the dashboard names an unknown filter, and a missing page shows the menu`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let bad = try Self.read(watched, "/jobs?colour=red&state=faild").text
        #expect(bad.contains("There is no filter “colour”") && bad.contains("There is no state “faild”"), "\(bad)")
        #expect(try !Self.read(watched, "/jobs?state=failed&queue=").text.contains("There is no"))
        #expect(try Self.read(watched, "/lanes?queue=a").text.contains("There is no filter “queue”"))
        #expect(try Self.read(watched, "/workers?queue=a").text.contains("This page has no filters"))
        #expect(try Self.read(watched, "/jobs?id=x").text.contains("The id “x” is not a number."))
        for path in ["/none", "/jobs/x"] {
            let missing = try Self.read(watched, path)
            #expect(missing.status == 404 && missing.text.contains("href=\"/jobs\""), "\(missing)")
        }
    }

    @Test func `the overview and the lanes page show why a lane is at its limit`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.lanes (name, max_in_flight, rate_limit, rate_period)
            values ('one', 1, null, '1 s'), ('slow', null, 1, '10 min'), ('free', 9, null, '1 s')
            """)
        let watched = try WatchedWorker(queue.database)
        try queue.insert(3, "url, lane", "'\(target.url)/held/' || i, 'one'")
        try queue.insert(3, "url, lane", "'\(target.url)/held/' || i, 'slow'")
        try queue.insert(1, "url, lane", "'\(target.url)/held/' || i, 'free'")
        try queue.wait(
            until: """
                select string_agg(lane || ' ' || coalesce(held_by, '-'), ' ' order by lane)
                         = 'free - one max_in_flight slow rate_limit'
                       and count(next_call_at) = 1 and bool_or(lane = 'slow'
                                                               and next_call_at > now() + interval '8 min')
                  from postrider.lane_status
                """)
        for path in ["/", "/lanes"] {
            let text = try Self.read(watched, path).text
            for reason in ["at most 1 calls at once", "at most 1 calls in 00:10:00"] {
                #expect(text.contains(reason), "\(path): \(text)")
            }
        }
        target.release()
    }

    @Test func `the overview names ten failures of one cause until they are retried`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        try queue.insert(9, "url, lane, max_attempts", "'\(target.url)/status/500/' || i, 'few', 1")
        try queue.insert(10, "url, lane, max_attempts", "'\(target.url)/status/500/' || i, 'many', 1")
        try queue.waitUntilDone()
        let text = try Self.read(watched, "/").text
        #expect(text.contains("10 jobs failed within 5 min: the server answered 500"), "\(text)")
        #expect(text.contains("href=\"/failures?lane=many\""), "\(text)")
        #expect(!text.contains("9 jobs failed within"), "\(text)")
        try queue.connection.execute(
            "select postrider.pause_lane('many'), postrider.retry_failed(lane => 'many')")
        #expect(try !Self.read(watched, "/").text.contains("failed within 5 min"))
    }

    @Test func `the calls that fill a lane are one link away from the overview and from the lanes`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('one', 1)")
        let stuck = try queue.insert("url, lane", "'\(target.url)/held/1', 'one'")
        let watched = try WatchedWorker(queue.database)
        try queue.wait(for: stuck, toBe: "running")
        try queue.insert(60, "url, lane", "'\(target.url)/ok/' || i, 'one'")
        try queue.wait(until: "select held_by = 'max_in_flight' from postrider.lane_status")
        for path in ["/", "/lanes"] {
            let text = try Self.read(watched, path).text
            #expect(text.contains("<a href=\"/jobs?state=running&amp;lane=one\">running calls</a>"), "\(path): \(text)")
        }
        let jobs = try Self.read(watched, "/jobs?state=running&lane=one").text
        #expect(jobs.contains("href=\"/jobs/\(stuck)\"") && jobs.contains(">running for</th>"), "\(jobs)")
        target.release()
    }

    @Test(.enabled(if: Browser.isInstalled, "chromium-driver is not installed"))
    func `at 390 px width, pages do not scroll sideways and table cells stay wide enough`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert(
            "url, tag, max_attempts",
            "'\(target.url)/status/404/' || repeat('long/', 30), 'a tag of some words that takes its place', 1")
        try queue.waitUntilDone()
        let shown = try Browser.run(
            """
            url, job = words
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
            for place in ["/", "/jobs", f"/jobs/{job}", "/lanes", "/failures", "/queues?queue=default", "/services",
                "/operations", "/credentials", "/schedules", "/workers", "/cache", "/clients"]:
                browser.get(url + place)
                find("main")
                browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
                print(place.count("/"), browser.execute_script("return document.documentElement.scrollWidth <= 390"),
                    browser.execute_script(
                        "return [...document.querySelectorAll('td')].filter(e => e.innerText.length > 8).every(e => e.clientWidth >= 60)"),
                    browser.execute_script(
                        "return [...document.querySelectorAll('td code')].every(e => e.getBoundingClientRect().width >= 100 || e.innerText.length < 20)"))
            """, [watched.url, "\(id)"])
        #expect(shown.count == 13 && shown.allSatisfy { $0.dropFirst() == " True True True" }, "\(shown)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The lists of the dashboard: each page, each filter, paging, groups of failures and charts.
struct DashboardListTests {
    private static let pages = [
        "/", "/jobs", "/failures", "/queues", "/lanes", "/services", "/operations", "/credentials", "/schedules",
        "/workers", "/cache", "/clients", "/log",
    ]

    private static func read(_ watched: WatchedWorker, _ path: String) throws -> String {
        let answer = try watched.pages.read(path)
        #expect(answer.status == 200, "\(path): \(answer)")
        return answer.lines.joined(separator: "\n")
    }

    /// The ids of the jobs in the table of a page, in their order.
    private static func jobs(_ page: String) -> [Int] {
        page.matches(of: /<td class="right" data-title="job"><a href="\/jobs\/(\d+)">/).compactMap { Int($0.output.1) }
    }

    @Test func `every page is in the menu, and an empty page shows a statement that works`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database, ["--queue", "none"])
        let overview = try Self.read(watched, "/")
        for path in Self.pages where path != "/log" {
            #expect(overview.contains("<a href=\"\(path)\""), "\(path)")
            let page = try Self.read(watched, path)
            #expect(page.contains("<a href=\"\(path)\" aria-current=\"page\">"), "\(path)")
            guard !["/", "/failures", "/workers"].contains(path) else { continue }
            let example = try #require(page.firstMatch(of: /<pre>([^<]*)<\/pre>/), "\(path): \(page)").output.1
            let sql = example.replacing("&#39;", with: "'").replacing("&quot;", with: "\"")
            try queue.connection.execute("begin; \(sql); rollback")
        }
        #expect(overview.contains("Nothing needs attention"), "\(overview)")
    }

    @Test func `each filter of a list of jobs selects its jobs, and an act is not offered`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('billing', 'https://billing.example.com');
            insert into postrider.operations (name, spec) values ('ping', '{"url": "https://h/ping"}');
            """)
        _ = try queue.insert("url, queue, tag", "'http://one/a', 'mail', 'red'")
        _ = try queue.insert("url, service", "'/b', 'billing'")
        _ = try queue.insert("operation, lane", "'ping', 'slow'")
        _ = try queue.insert("url", "'http://four/?api_key=s3cret'")
        let days = try queue.rows("select (now() at time zone 'UTC')::date - i || '' from generate_series(0, 2) i")
            .map { $0[0] ?? "" }
        try queue.connection.execute(
            """
            delete from postrider_internal.ready where job_id > 2;
            insert into postrider_internal.results (job_id, fence, attempt, state, status_code, error_code, finished_at)
            values (3, 1, 1, 'f', 503, 'envelope', '\(days[2]) 10:00Z'), (4, 1, 1, 's', 200, null, '\(days[1]) 10:00Z');
            insert into postrider_internal.envelope_errors (job_id, fence, code, name) values (3, 1, '9', 'NO_FUNDS');
            """)
        let watched = try WatchedWorker(queue.database, ["--queue", "none"])
        for (filter, expected) in [
            ("", [4, 3, 2, 1]), ("queue=mail", [1]), ("state=failed", [3]), ("state=ready", [2, 1]), ("lane=slow", [3]),
            ("lane=four:80", [4]), ("service=billing", [2]), ("operation=ping", [3]), ("tag=red", [1]),
            ("error_code=envelope", [3]), ("error_name=NO_FUNDS", [3]), ("status=200", [4]),
            ("since=\(days[2])T12:00Z&until=\(days[0])", [4]), ("until=\(days[1])", [3]), ("url=one", [1]),
            ("url=s3cret", []), ("url=api_key%3D***", [4]), ("state=failed&status=503&lane=slow", [3]),
            ("state=failed&queue=mail", []),
        ] {
            let page = try Self.read(watched, "/jobs?\(filter)")
            #expect(Self.jobs(page) == expected, "\(filter): \(page)")
            #expect(!page.contains("/act?") && !page.contains("There is no"), "\(filter)")
        }
        // Older jobs are one link away, whether the page is full or the search has looked at enough rows.
        let first = try Self.read(watched, "/jobs?limit=3&status=")
        #expect(
            Self.jobs(first) == [4, 3, 2] && first.contains("<a href=\"/jobs?limit=3&amp;before=2\" rel=\"next\">"))
        let second = try Self.read(watched, "/jobs?limit=3&before=2")
        #expect(Self.jobs(second) == [1] && second.contains(">Newest jobs</a>") && !second.contains("rel=\"next\""))
    }

    @Test func `a filter without matches says how far it has looked`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            select postrider.pause_queue('default');
            insert into postrider.jobs (url) select 'http://h/' || i from generate_series(1, 10500) i;
            """)
        let watched = try WatchedWorker(queue.database, ["--queue", "none"])
        let page = try Self.read(watched, "/jobs?service=none")
        #expect(page.contains("Searched down to job 501"), "\(page)")
        #expect(page.contains("<a href=\"/jobs?service=none&amp;before=501\" rel=\"next\">Look further back</a>"))
        let rest = try Self.read(watched, "/jobs?service=none&before=501")
        #expect(!rest.contains("Searched down") && rest.contains("No job matches these filters."))
        #expect(try Self.jobs(Self.read(watched, "/jobs?url=h/77&lane=h:80&limit=1")) == [7799])
    }

    @Test func `a queue without scheduled jobs is searched among the newest ones only`() throws {
        let queue = try TestQueue()
        try queue.insert(10_500, "url, run_at", "'http://h/' || i, now() + interval '1 day'")
        let watched = try WatchedWorker(queue.database, ["--queue", "none"])
        let page = try Self.read(watched, "/jobs?state=scheduled&queue=mail")
        #expect(page.contains("Searched down to job 501"), "\(page)")
        let rest = try Self.read(watched, "/jobs?state=scheduled&queue=mail&before=501")
        #expect(!rest.contains("Searched down") && rest.contains("No job matches these filters."))
        #expect(try Self.jobs(Self.read(watched, "/jobs?state=scheduled&queue=default&limit=1")) == [10500])
    }

    @Test func `failures with one cause are one row that leads to its jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('api', '\(target.url)')")
        try queue.insert(6, "url, service, max_attempts", "'/status/404/' || i, 'api', 1")
        try queue.insert(2, "url, max_attempts", "'\(target.url)/status/503/' || i, 1")
        let watched = try WatchedWorker(queue.database)
        try queue.waitUntilDone()
        let page = try Self.read(watched, "/failures")
        #expect(page.matches(of: /<td class="right" data-title="jobs">/).count == 2, "\(page)")
        #expect(page.contains("data-title=\"jobs\">6</td>") && page.contains("Read: the 8 failures"))
        let link = try #require(page.firstMatch(of: /href="(\/jobs\?state=failed&amp;service=api[^"]*)"/)).output.1
        let jobs = try Self.read(watched, String(link.replacing("&amp;", with: "&")))
        #expect(Self.jobs(jobs) == [6, 5, 4, 3, 2, 1])
        #expect(try Self.read(watched, "/failures?status=503").contains("data-title=\"jobs\">2</td>"))
        #expect(try Self.read(watched, "/failures?service=none").contains("No failure matches these filters."))
        #expect(try Self.read(watched, "/").contains("data-title=\"jobs\">6</td>"))
    }

    @Test func `charts of all jobs, and of one queue, lane and service, show what has ended`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('api', '\(target.url)')")
        try queue.insert(30, "url, service, queue", "'/wait/5/' || i, 'api', 'mail'")
        let watched = try WatchedWorker(queue.database)
        try queue.waitUntilDone()
        try queue.wait(until: "select count(*) > 0 from postrider_internal.timings")
        for path in ["/", "/queues?queue=mail", "/lanes?lane=api", "/services?service=api"] {
            for range in ["1h", "24h", "7d"] {
                let page = try Self.read(watched, "\(path)\(path == "/" ? "?" : "&")range=\(range)")
                #expect(page.matches(of: /<svg viewBox/).count == 3, "\(path) \(range): \(page)")
                #expect(page.contains("UTC: ended ") && page.contains("p50 ") && page.contains("jobs per minute"))
                #expect(page.matches(of: /<table class="hidden">/).count == 3)
            }
        }
        #expect(try !Self.read(watched, "/queues").contains("<svg viewBox"))
        #expect(try !Self.read(watched, "/lanes?lane=none").contains("<svg"))
    }

    @Test func `a queue shows its last hour, and a schedule its last success`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec)
            values ('ping', '0 0 1 1 *', '{"url": "\(target.url)/ok/1"}'), ('off', '@yearly', '{"url": "http://h/"}');
            update postrider.schedules set enabled = false where name = 'off';
            select postrider.run_schedule('ping');
            """)
        try queue.insert(4, "url, queue", "'\(target.url)/ok/' || i, 'mail'")
        try queue.insert("url, queue, max_attempts", "'\(target.url)/status/500', 'mail', 1")
        let watched = try WatchedWorker(queue.database)
        try queue.waitUntilDone()
        try queue.wait(until: "select sum(jobs) = 5 from postrider_internal.job_totals where queue = 'mail'")
        let page = try Self.read(watched, "/queues")
        #expect(page.contains("aria-label=\"5 ended, 1 failed\""), "\(page)")
        let schedules = try Self.read(watched, "/schedules")
        #expect(schedules.contains("data-title=\"last success\"><time"), "\(schedules)")
    }

    @Test func `the overview names each object that needs attention`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            select postrider.pause_queue('held');
            select postrider.pause_lane('narrow');
            insert into postrider.credentials (name, kind) values ('token', 'bearer');
            insert into postrider.client_limits (role, max_unfinished) values ('*', 100);
            """)
        _ = try queue.insert("url, queue", "'http://h/', 'held'")
        _ = try queue.insert("url, queue", "'http://h/', 'lonely'")
        let watched = try WatchedWorker(queue.database, ["--queue", "held"])
        try watched.wait(until: "/readyz", hasStatus: 200)
        let page = try Self.read(watched, "/")
        for words in [
            "<h2>Needs attention</h2>", "1 job is ready, and no live worker takes this queue",
            "href=\"/queues?queue=held\"",
            "href=\"/lanes?lane=narrow\"", "<span class=\"state logged_off\">logged_off</span>",
        ] { #expect(page.contains(words), "\(words): \(page)") }
    }
}

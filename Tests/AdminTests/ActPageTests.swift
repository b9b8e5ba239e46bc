// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import Admin

/// The links to acts on the lists of the dashboard.
struct ActPageTests {
    @Test func `a list links to its acts if acts are allowed, and to none otherwise`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', 'https://api.example.com');
            insert into postrider.servers (service, environment, position, base_url)
            values ('api', 'release', 1, 'https://a.example.com'), ('api', 'release', 2, 'https://b.example.com');
            insert into postrider.credentials (name, kind, allowed_origins)
            values ('token', 'bearer', '{https://api.example.com}');
            select postrider.log_in('token', '{"access_token": "x"}');
            insert into postrider.schedules (name, cron, spec) values ('nightly', '0 3 * * *', '{"url": "https://h/"}');
            insert into postrider.lanes (name, max_in_flight) values ('slow', 1);
            insert into postrider.jobs (url, queue, lane) values ('http://h/1', 'mail', 'slow'), ('http://h/2', 'b', 'l'),
              ('http://h/3', 'c', 'l');
            delete from postrider_internal.ready where job_id = 2;
            insert into postrider_internal.results (job_id, attempt, state, error_code) values (2, 1, 'f', 'timeout');
            select postrider.pause_queue('mail');
            select postrider.pause_lane('held');
            """)
        let database = ReadOnlyDatabase(try PGConnectionString(queue.database))
        let (acting, reading) = (Dashboard(database, actsAllowed: true), Dashboard(database))
        for (path, arguments, acts) in [
            (
                "/", [:],
                ["resume-queue&amp;queue=mail", "resume-lane&amp;lane=held", "retry&amp;state=failed&amp;lane=l"]
            ),
            ("/queues", [:], ["resume-queue&amp;queue=mail", "pause-queue&amp;queue=c"]),
            ("/lanes", [:], ["resume-lane&amp;lane=held", "pause-lane&amp;lane=slow"]),
            ("/schedules", [:], ["run-schedule&amp;schedule=nightly"]),
            ("/credentials", [:], ["log-out&amp;credential=token"]),
            ("/services", [:], ["switch-server&amp;service=api&amp;environment=release&amp;position=2"]),
            ("/failures", [:], ["retry&amp;state=failed&amp;lane=l&amp;error_code=timeout"]),
            (
                "/jobs", ["queue": "mail"],
                ["cancel&amp;queue=mail", "reschedule&amp;queue=mail", "retry&amp;queue=mail"]
            ),
            ("/jobs", ["state": "failed", "before": "9"], ["retry&amp;state=failed\""]),
        ] as [(String, [String: String], [String])] {
            let request = AdminRequest(path: path, arguments: arguments)
            let page = acting.response(to: request).body
            for act in acts { #expect(page.contains("/act?do=\(act)"), "\(act): \(page)") }
            let plain = reading.response(to: request)
            #expect(plain.status == 200 && !plain.body.contains("/act?"), "\(path)")
        }
        // Without a filter, no act on all jobs is offered.
        #expect(!acting.response(to: AdminRequest(path: "/jobs")).body.contains("/act?"))
        let ended = AdminRequest(path: "/jobs", arguments: ["state": "failed"])
        #expect(!acting.response(to: ended).body.contains("do=cancel"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// Acts, as links and forms name them.
struct ActTests {
    @Test func `a form is decoded, and the first of two values counts`() throws {
        #expect(
            try FormBody.decode([UInt8]("a=b+c&d=%C3%A9%26&e=&a=x&f".utf8)) == ["a": "b c", "d": "é&"])
        for body in ["a=%", "a=%4", "a=%zz", "a=%ff", "a=%00", "%e9=1", "a=%+1"] {
            #expect(throws: ActDefect("body", "is not an UTF-8 text in the encoding of forms"), "\(body)") {
                try FormBody.decode([UInt8](body.utf8))
            }
        }
        #expect(throws: ActDefect.self) {
            try FormBody.decode([UInt8](String(repeating: "a=1&", count: 101).utf8))
        }
    }

    @Test(
        arguments: [
            ([:], "do"), (["do": "drop"], "do"), (["do": "cancel"], "id"), (["do": "cancel", "id": "x"], "id"),
            (["do": "cancel", "id": "0"], "id"), (["do": "retry", "state": "ready"], "state"),
            (["do": "cancel", "state": "failed"], "state"), (["do": "retry", "state": "nonsense"], "state"),
            (["do": "retry", "status": "abc"], "status"), (["do": "pause-queue"], "queue"),
            (["do": "pause-lane"], "lane"),
            (["do": "pause-lane", "lane": "a", "until": "soon"], "until"),
            (["do": "reschedule", "id": "1", "run_at": "infinity"], "run_at"), (["do": "run-schedule"], "schedule"),
            (["do": "switch-server", "service": "a", "environment": "b"], "position"),
            (["do": "switch-server", "service": "a", "environment": "b", "position": "x"], "position"),
            (["do": "log-out"], "credential"), (["do": "retry", "ids": "1,x"], "ids"),
            (["do": "retry", "causes": ","], "causes"), (["do": "retry", "causes": "state=ready"], "state"),
            (["do": "retry", "causes": "state=failed,id=1"], "id"), (["do": "retry", "causes": "lane=%zz"], "body"),
            (["do": "retry", "causes": (1...11).map { "lane=\($0)" }.joined(separator: ",")], "causes"),
            (["do": "retry", "ids": "0"], "ids"), (["do": "retry", "ids": ","], "ids"),
            (["do": "retry", "ids": "1;drop"], "ids"),
            (["do": "retry", "ids": (1...501).map { "\($0)" }.joined(separator: ",")], "ids"),
        ] as [([String: String], String)])
    func `a defect names its field`(fields: [String: String], field: String) {
        let error = #expect(throws: ActDefect.self) { try Act(fields) }
        #expect(error?.field == field)
    }

    @Test func `a time has a date and a time of day, and seconds and a zone if given`() throws {
        for time in [
            "2027-01-31T18:30", "2027-01-31 18:30:01", "2027-01-31T18:30:01.123456", "2027-01-31T18:30Z",
            "2027-01-31T18:30:00+01", "2027-01-31T18:30:00.5-01:30",
        ] {
            #expect(try Act(["do": "pause-lane", "lane": "a", "until": time]).time == time)
        }
        for time in [
            "2027-01-31", "18:30", "now", "infinity", "2027-01-31T18:30x", "2027-01-31T18:3", "2027-01-31T18:30:01.",
            "2027-01-31T18:30:01.1234567", "2027-01-31T18:30 UTC", "x2027-01-31T18:30", "2027-01-31T18:30+",
            "2027-01-31T18:30'",
        ] {
            #expect(throws: ActDefect.self, "\(time)") {
                try Act(["do": "pause-lane", "lane": "a", "until": time])
            }
        }
    }

    @Test(
        arguments: [
            (["do": "cancel", "id": "5"], "select postrider.cancel(5);"),
            (["do": "retry", "id": "5"], "select postrider.retry(5);"),
            (["do": "reschedule", "id": "5"], "select postrider.reschedule(5, now());"),
            (
                ["do": "reschedule", "id": "5", "run_at": "2027-01-31T18:30"],
                "select postrider.reschedule(5, '2027-01-31T18:30'::timestamptz);"
            ),
            (["do": "pause-queue", "queue": "o'x"], "select postrider.pause_queue('o''x');"),
            (["do": "resume-lane", "lane": "a"], "select postrider.resume_lane('a');"),
            (
                ["do": "pause-lane", "lane": "a", "until": "2027-01-31 18:30:00Z"],
                "select postrider.pause_lane('a', '2027-01-31 18:30:00Z'::timestamptz);"
            ),
            (["do": "run-schedule", "schedule": "n"], "select postrider.run_schedule('n');"),
            (
                ["do": "switch-server", "service": "a", "environment": "b", "position": "2"],
                "select postrider.switch_server('a', 2, 'b');"
            ),
            (["do": "log-out", "credential": "a"], "select postrider.log_out('a');"),
            (
                ["do": "cancel", "queue": "mail", "tag": "t"],
                "select postrider.cancel_all(queue => 'mail', tag => 't');"
            ),
            (
                ["do": "retry", "queue": "mail", "error_code": "timeout", "state": "failed"],
                "select postrider.retry_failed(queue => 'mail', error_code => 'timeout');"
            ),
            (
                ["do": "cancel", "ids": "7,5,7"],
                """
                select postrider.cancel(s.id)
                  from postrider.job_status s
                 where s.id in (5, 7)
                   and s.state in ('running', 'scheduled', 'waiting', 'ready');
                """
            ),
            (
                ["do": "retry", "service": "api", "status": "503"],
                """
                select postrider.retry(s.id)
                  from postrider.job_status s
                 where s.state in ('failed')
                   and s.service = 'api'
                   and s.status_code = 503;
                """
            ),
        ] as [([String: String], String)])
    func `each act shows the SQL statement that does the same`(fields: [String: String], statement: String) throws {
        #expect(try Act(fields).statement == statement)
    }

    @Test func `the log gets the object as JSON, and the form all its fields`() throws {
        let act = try Act(["do": "pause-lane", "lane": #"a"b"#, "until": "2027-01-31T18:30", "queue": "unused"])
        #expect(act.targetJSON() == #"{"lane": "a\"b", "until": "2027-01-31T18:30"}"#)
        #expect(act.subject == "do=pause-lane&lane=a%22b")
        #expect(try Act(["do": "cancel", "id": "5"]).targetJSON() == #"{"id": 5}"#)
        let bulk = try Act(["do": "retry", "state": "failed", "lane": "x", "until": "2027-01-01"])
        #expect(bulk.targetJSON() == #"{"state": "failed", "lane": "x", "until": "2027-01-01"}"#)
        #expect(bulk.time == nil)
        let ticked = try Act(["do": "cancel", "ids": "7,5,7"])
        let causes = try Act(["do": "retry", "causes": "state=failed&lane=a%2Cb,state=unknown&lane=a%22"])
        #expect(
            causes.targetJSON()
                == #"{"causes": [{"state": "failed", "lane": "a,b"}, {"state": "unknown", "lane": "a\""}]}"#)
        guard case .causes(let list) = causes.target else { return #expect(Bool(false), "\(causes)") }
        #expect(try TickedCauses(list.text, for: .retry) == list)
        #expect(ticked.targetJSON() == #"{"ids": [5,7]}"# && ticked.subject == "do=cancel&ids=5%2C7")
    }

    @Test(
        arguments: [
            ("Basic YWRhOng=", "ada"), ("basic YWRhOng=", "ada"), ("Bearer 0123456789abcdef", "token"),
            ("Basic OngK", nil), ("Basic IDp4", nil), ("Basic ChsaOng=", nil), ("Basic /zp4", nil), (nil, nil),
        ] as [(String?, String?)])
    func `the actor is the user name of the login`(authorization: String?, name: String?) {
        #expect(AdminLogin(authorization)?.name == name)
    }

    @Test func `links lead to the page that confirms the act`() {
        var html = HTML()
        html.actions([ActionLink(act: "pause-lane", label: "Pause", target: [("lane", "a b&c")])])
        #expect(
            html.markup == #"<p class="actions"><a href="/act?do=pause-lane&amp;lane=a%20b%26c">Pause</a></p>"#)
    }
}

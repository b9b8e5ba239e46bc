// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `postrider.jobs` through the models of SQLAlchemy and Django.
struct ORMTests {
    @Test func `SQLAlchemy reflects jobs, inserts a job and reads it back`() throws {
        let queue = try TestQueue()
        let output = try PythonProgram.run(
            "Tests/ORM/sqlalchemy_jobs.py", [TestRole.client.database(queue.database), "http://h/x"])
        #expect(
            output.split(separator: "\n") == [
                "TEXT TEXT JSONB", "ready POST http://h/x",
                "PR001 jobs.extract: is not a jsonpath | Like $.data.result or $.items[*].id.",
            ])
        let rows = try queue.rows("select extract, body_json::text, run_if from postrider.jobs where tag = 'orm'")
        #expect(rows == [["$.data.items", #"{"a": [1, null]}"#, nil]])
    }

    @Test func `Django reads extract and run_if as text, inserts a job and reads it back`() throws {
        let queue = try TestQueue()
        let output = try PythonProgram.run(
            "Tests/ORM/django_jobs.py", [TestRole.client.database(queue.database), queue.database, "http://h/x"])
        #expect(
            output.split(separator: "\n") == [
                "extract TextField known", "run_if TextField known", "ready POST http://h/x",
                "PR001 jobs.extract: is not a jsonpath",
            ])
        #expect(try queue.text("select extract from postrider.jobs where tag = 'orm'") == "$.data.items")
    }

    @Test(arguments: [
        ("extract", "'$.a ('", "is not a jsonpath"), ("extract", "''", "is not a jsonpath"),
        ("extract", "'$.a ? (@ > $x)'", "uses a variable, but variables are not supported"),
        ("extract", "'$.a' || repeat('.b', 2000)", "is longer than 2000 characters"),
    ])
    func `an invalid jsonpath in extract is refused with its column`(column: String, value: String, reason: String)
        throws
    {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.insert("url, \(column)", "'http://h/', \(value)")
        }
        #expect(error?.message == "jobs.\(column): \(reason)" && error?.sqlState?.rawValue == "PR001")
    }

    @Test func `a run_if that is no jsonpath is refused with its place`() throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "http://h/"}, {"url": "http://h/", "run_if": "$.a =="}]}')
                """)
        }
        #expect(error?.message == "$.chain[1].run_if: is not a jsonpath")
    }

    @Test func `extract stores a text as written and also accepts a value of type jsonpath`() throws {
        let queue = try TestQueue()
        try queue.insert("url, extract", "'http://h/', '$.a[*]'")
        try queue.insert("url, extract", "'http://h/', '$.a[*]'::jsonpath")
        #expect(try queue.rows("select extract from postrider.jobs order by id") == [["$.a[*]"], [#"$."a"[*]"#]])
    }
}

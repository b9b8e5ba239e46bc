// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The program with a foreign client encoding, set in each place that libpq reads.
struct ClientEncodingTests {
    /// The variables for `env`, and the additions to the connection string.
    private static func places(_ folder: borrowing TestFolder) throws -> [(variables: [String: String], text: String)] {
        try folder.write("service", "[latin]\nclient_encoding=LATIN1\n")
        return [
            (["PGCLIENTENCODING": "LATIN1"], ""), ([:], " client_encoding=LATIN1"),
            (["PGSERVICEFILE": folder.path("service")], " service=latin"),
            (["PGOPTIONS": "-c client_encoding=LATIN1"], ""),
        ]
    }

    @Test func `a worker with a LATIN1 client encoding sends, stores and shows text unchanged`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let folder = try TestFolder()
        for place in try Self.places(folder) {
            let port = try TargetServer.freePort()
            let worker = try RunningWorker(
                queue.database + place.text, ["--http", "127.0.0.1:\(port)"],
                under: ["/usr/bin/env"] + place.variables.map { "\($0.key)=\($0.value)" })
            defer { worker.kill() }
            let id = try queue.insert(
                "method, url, body_form", "'POST', '\(httpbin.url)/post', '{\"a\": \"é€\"}'")
            try queue.waitUntilDone()
            #expect(
                try queue.text("select result -> 'form' ->> 'a' from postrider.job_status where id = \(id)") == "é€",
                "\(place)")
            // Two sessions read for the pages: the dashboard's session and the session for metrics.
            let page = try PageReader(port: port).read("/jobs/\(id)")
            #expect(page.status == 200 && page.lines.contains { $0.contains("€") }, "\(place)")
            #expect(try PageReader(port: port).read("/metrics").lines.contains("postrider_database_up 1"))
        }
    }

    @Test func `commands with a LATIN1 client encoding accept and show any text`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("job", #"{"url": "http://h/", "tag": "é€", "run_at": "2100-01-01"}"#)
        for place in try Self.places(folder) {
            func run(_ words: String...) throws -> WorkerProcess.Outcome {
                try WorkerProcess.run(words + ["--database", queue.database + place.text], place.variables)
            }
            let submitted = try run("submit", folder.path("job"))
            #expect(submitted.status == 0, "\(submitted)")
            let id = submitted.output.filter(\.isNumber)
            #expect(try queue.text("select tag from postrider.job_status where id = \(id)") == "é€", "\(place)")
            let shown = try run("show", id)
            #expect(shown.status == 0 && shown.output.contains("é€"), "\(place) \(shown)")
            let listed = try run("jobs", "--json")
            #expect(listed.status == 0 && listed.output.contains("é€"), "\(place) \(listed)")
        }
    }
}

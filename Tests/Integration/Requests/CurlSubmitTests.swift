// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `worker submit --curl`: the worker sends what curl would have sent.
struct CurlSubmitTests {
    private let httpbin: HttpbinServer

    init() throws {
        httpbin = try HttpbinServer()
    }

    private func submit(_ command: String, _ words: [String], _ queue: borrowing TestQueue) throws
        -> WorkerProcess.Outcome
    {
        try WorkerProcess.run(["submit", "--curl", command, "--database", queue.database] + words)
    }

    /// The echo without its expected differences: the boundary of parts, the program's name, its key and encodings.
    private static func normal(_ parameter: String) -> String {
        """
        (regexp_replace(\(parameter), 'boundary=-*[0-9a-zA-Z]+', 'boundary')::jsonb
           #- '{headers,User-Agent}' #- '{headers,Accept-Encoding}' #- '{headers,Idempotency-Key}')
        """
    }

    @Test func `the worker and real curl send the same request for the same command`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("data.txt", "a=1\nb=2\n")
        let file = folder.path("data.txt")
        let commands = [
            "curl 'URL?x=1&y=%20' -H 'X-A: it'\\''s' -H 'X-E;' -b 'a=1; b=2'",
            "curl -X PUT URL -d '' ", "curl URL -d a=1 -d 'b= 2'", "curl -XDELETE URL --data @\(file)",
            "curl URL --data-binary @\(file) -H 'Content-Type: text/plain'",
            "curl URL --json '{\"a\": [1, \"ü\"]}'", "curl -G URL -d a=1 --data-urlencode 'b=c d'",
            "curl -u 'ada:p w' URL",
            "curl URL -F a=1 -F 'f=@\(file)' -F 'g=<\(file);type=a/b' -F 'h=\"x;\";filename=n.html'",
            "curl URL --data-raw $'it\\'s\\t\\u00e9 %s' -A me",
        ].map { $0.replacing("URL", with: httpbin.url + "/anything") }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for command in commands {
            let outcome = try submit(command, [], queue)
            #expect(outcome.status == 0, "\(outcome.output)")
            let id = try #require(Int64(outcome.output.filter { $0 != "\n" }))
            try queue.wait(for: id, toBe: "succeeded")
            // dash knows no $'…'.
            let echo = try WorkerProcess.run(["/bin/bash"], reading: "exec 2>/dev/null\n\(command)").output
            var parameters = PGParameters()
            parameters.append(text: echo)
            let same = try queue.connection.query(
                """
                select \(Self.normal("$1")) = \(Self.normal("convert_from(s.body, 'UTF8')")),
                  convert_from(s.body, 'UTF8')
                from postrider.job_status s where s.id = \(id)
                """, &parameters)
            let (isSame, sent) = (same.bool(0, 0), same.text(0, 1))
            #expect(isSame, "\(command)\n\(echo)\n\(sent)")
        }
    }

    @Test func `no view shows the password of -u, and a refused command ends with 64`() throws {
        let queue = try TestQueue()
        let login = try submit("curl -u ada:s3cret https://h.example/a?x=1", [], queue)
        #expect(login.output == "1\n")
        for view in ["job_status", "attempts", "recent_failures", "pages"] {
            #expect(try queue.number("select count(*) from postrider.\(view) v where v::text like '%s3cret%'") == 0)
        }
        for words in [["show", "1"], ["show", "1", "--curl"], ["jobs"], ["jobs", "--json"], ["explain", "1"]] {
            let shown = try WorkerProcess.run(words + ["--database", queue.database])
            #expect(shown.status == 0)
            #expect(!shown.output.contains("s3cret"), "\(shown.output)")
        }
        #expect(
            try submit("curl -k https://h.example/", [], queue)
                == WorkerProcess.Outcome(
                    status: 64,
                    output:
                        "worker: --curl -k: a job always checks the certificate; leave it out; services.tls can name a CA\n"
                ))
        #expect(try queue.number("select count(*) from postrider.jobs") == 1)
    }

    @Test func `--print writes only the INSERT, which psql runs, and needs no database`() throws {
        let queue = try TestQueue()
        let command = "curl https://h.example/ -d 'it'\\''s \\ and \"more\"'"
        let printed = try WorkerProcess.run(["submit", "--print", "--curl", command], ["DATABASE_URL": "host=nowhere"])
        #expect(printed.status == 0)
        #expect(printed.output.hasPrefix("insert into postrider.jobs (method, url, headers, body, max_redirects)\n"))
        #expect(printed.output.hasSuffix("returning id;\n"))
        for setting in ["on", "off"] {
            let run = try Psql.run(
                "set standard_conforming_strings = \(setting);\n" + printed.output, on: queue.database)
            #expect(run.status == 0, "\(run.output)")
        }
        #expect(
            try queue.number(
                #"select count(*) from postrider.jobs where body = convert_to('it''s \ and "more"', 'UTF8')"#) == 2)
        let fromInput = try WorkerProcess.run(
            ["submit", "--curl", "-", "--database", queue.database], input: "curl https://h.example/\n")
        #expect(fromInput.output == "3\n")
        let missing = try WorkerProcess.run(["submit", "--database", queue.database])
        #expect(missing.status == 64)
    }
}

// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The commands on a real schema. No worker runs, so jobs keep their states.
struct CommandTests {
    private let database: String

    init() throws {
        database = try TestCluster.makeDatabaseText()
        _ = try WorkerProcess.run(["migrate"], ["POSTRIDER_DATABASE": database])
    }

    private func run(_ words: String...) throws -> WorkerProcess.Outcome {
        try WorkerProcess.run(words + ["--database", database])
    }

    private func insert(_ columns: String, _ values: String) throws -> Int64 {
        try PGConnection(database)
            .query("insert into postrider.jobs (\(columns)) values (\(values)) returning id").int64(0, 0)
    }

    @Test func `submit inserts a job from standard input, and show prints its columns`() throws {
        let words = ["submit", "-", "--database", database]
        let spec = #"{"url": "http://api.example/a", "tag": "from submit", "priority": 4}"#
        let submitted = try WorkerProcess.run(words, input: spec)
        #expect(submitted == WorkerProcess.Outcome(status: 0, output: "1\n"))
        let shown = try run("show", "1")
        #expect(shown.status == 0)
        #expect(shown.output.contains("tag               from submit\n"))
        #expect(shown.output.contains("priority          4\n"))
        #expect(shown.output.contains("state             ready\n"))
    }

    @Test(arguments: [
        ("{", "FILE \"-\", line 1: not JSON: The input string ended unexpectedly"),
        (
            "{\n \"url\" \"http://h/\"}",
            "FILE \"-\", line 2: not JSON: Expected \":\"; give"
        ),
        (#"{"url": "ftp://h/"}"#, "url"), (#"{"urll": "http://h/"}"#, "urll"),
        ("{\"url\": secret}", "line 1: not JSON: there is a word that is not valid in JSON; give"),
        ("{\"url\": \"\\secret\"}", "line 1: not JSON: Escape sequence is invalid; give"),
        ("{\"url\": \"http://h/\" \"secret\"}", "line 1: not JSON: Expected \",\" or \"}\"; give"),
        (String(repeating: "secret", count: 20_000), "line 1: not JSON: "),
        ("", "FILE \"-\": is empty; give one JSON"),
        (" \n", "is empty"),
        ("{\"url\": \"http://h/\u{1}\"}", "line 1: not JSON: Character with value 0x01 must be escaped"),
    ])
    func `submit names the defect of a bad spec, ends with 64 and shows no secret`(spec: String, word: String) throws {
        let outcome = try WorkerProcess.run(["submit", "-", "--database", database], input: spec)
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("worker: "))
        #expect(outcome.output.contains(word) && outcome.output.utf8.count < 300, "\(outcome.output.prefix(400))")
        #expect(!outcome.output.contains("secret"))
        #expect(try run("jobs").output.split(separator: "\n").count == 1)
    }

    @Test func `submit prints the id of a tree, and a message for a skipped duplicate`() throws {
        func submit(_ spec: String) throws -> WorkerProcess.Outcome {
            try WorkerProcess.run(["submit", "-", "--database", database], input: spec)
        }
        let tree = #"{"chain": [{"url": "http://h/"}], "dedupe_key": "k", "on_duplicate": "skip"}"#
        #expect(try submit(tree) == WorkerProcess.Outcome(status: 0, output: "1\n"))
        let again = try submit(tree)
        #expect(again.status == 0)
        #expect(again.output.hasPrefix("worker: nothing was inserted: an unfinished job has the dedupe_key"))
    }

    @Test func `submit gives the reason why a file cannot be read`() throws {
        let outcome = try run("submit", "/nonexistent")
        #expect(outcome.status == 64)
        #expect(
            outcome.output
                == "worker: FILE \"/nonexistent\": No such file or directory; give a file, or - for standard input\n")
    }

    @Test func `jobs lists the newest first and filters by state and queue`() throws {
        let first = try insert("url, tag", "'http://h/1', 'a'")
        let second = try insert("url, queue", "'http://h/2', 'mail'")
        let later = try insert("url, run_at", "'http://h/3', now() + interval '1 h'")
        func ids(_ outcome: WorkerProcess.Outcome) -> [Int64] {
            outcome.output.split(separator: "\n").dropFirst().compactMap {
                $0.split(separator: " ").first.flatMap { Int64($0) }
            }
        }
        #expect(try ids(run("jobs")) == [later, second, first])
        #expect(try ids(run("jobs", "--state", "scheduled")) == [later])
        #expect(try ids(run("jobs", "--queue=mail", "--state", "ready")) == [second])
        #expect(try ids(run("jobs", "--limit", "1")) == [later])
        let json = try run("jobs", "--json", "--queue", "mail")
        #expect(json.output.hasPrefix("{\"id\":\(second),"))
        #expect(json.output.hasSuffix("}\n"))
    }

    @Test func `cancel, explain and retry report the state of a job`() throws {
        let id = try String(insert("url, run_at", "'http://h/', now() + interval '1 h'"))
        let explained = try run("explain", id)
        #expect(explained.status == 0)
        #expect(explained.output.split(separator: "\n").count == 1)
        #expect(try run("retry", id).status == 64)
        #expect(try run("cancel", id) == WorkerProcess.Outcome(status: 0, output: "\(id) cancelled\n"))
        let again = "\(id) cancelled; it had finished already, nothing was cancelled\n"
        #expect(try run("cancel", id) == WorkerProcess.Outcome(status: 0, output: again))
        #expect(try run("retry", id).status == 0)
        #expect(try run("jobs", "--state", "cancelled").output.split(separator: "\n").count == 1)
    }

    @Test func `queue and lane pause and resume by name and print the new state`() throws {
        func said(_ words: String...) throws -> String {
            let outcome = try WorkerProcess.run(words + ["--database", database])
            return "\(outcome.status) \(outcome.output)"
        }
        func unknown(_ kind: String, _ name: String) -> String {
            "worker: no \(kind) \"\(name)\" is known yet; check the spelling with: select \(kind) from postrider.\(kind)_status\n"
        }
        _ = try insert("url, queue", "'http://h:81/', 'bulk'")
        #expect(try said("queue", "resume", "bulk") == "0 bulk running\n")
        #expect(try said("queue", "pause", "mail") == "0 \(unknown("queue", "mail"))mail paused\n")
        #expect(try said("queue", "resume", "mail") == "0 mail running\n")
        #expect(try said("queue", "resume", "nobody's") == "0 \(unknown("queue", "nobody's"))nobody's running\n")
        #expect(try said("lane", "pause", "h:80") == "0 \(unknown("lane", "h:80"))h:80 paused until resumed\n")
        #expect(try said("lane", "pause", "h:80", "--until", "2999-12-31 00:00+00").hasPrefix("0 h:80 paused until 29"))
        #expect(try said("lane", "resume", "h:80") == "0 h:80 running\n")
        #expect(
            try said("lane", "pause", "h:80", "--until", "1999-12-31").hasPrefix("64 worker: until: lies in the past"))
        #expect(try said("lane", "pause", "h:80", "--until", "soon").hasPrefix("64 worker: --until: "))
        #expect(try said("lane", "resume", "h:80", "--until", "2999-12-31").hasPrefix("64 worker: --until: "))
        #expect(try said("lane", "stop", "h:80").hasPrefix("64 worker: \"stop\": is neither pause nor resume"))
        #expect(try said("queue", "pause").hasPrefix("64 worker: queue NAME: is missing"))
    }

    @Test(arguments: ["show", "cancel", "retry"])
    func `show, cancel and retry of a missing job end with 64`(command: String) throws {
        let outcome = try run(command, "4711")
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("worker: "))
        #expect(outcome.output.contains("4711"))
    }

    @Test func `a secret typed on a terminal is hidden, and an overlong secret is refused`() throws {
        try PGConnection(database).execute(
            "insert into postrider.credentials (name, kind) values ('typed', 'bearer')")
        let folder = try TestFolder()
        try folder.shell("mkfifo keyboard")
        let command = "\(WorkerProcess.path) credential set typed --database '\(database)'"
        for (count, status) in [(4094, Int32(0)), (4095, 64), (5000, 64)] {
            let asking = try WatchedProcess([
                "/bin/sh", "-c", "exec /usr/bin/script -qec \"\(command)\" /dev/null 0<>\(folder.path("keyboard"))",
            ])
            try asking.wait(for: "secret of typed, not shown: ")
            try folder.shell("{ head -c \(count) /dev/zero | tr '\\0' h; echo; } >keyboard")
            #expect(try asking.status() == status, "\(asking.output)")
            #expect(asking.output.contains("longer than a line of a terminal") == (status == 64))
            #expect(!asking.output.contains("hhhh"))
        }
        #expect(try PGConnection(database).query("select version from postrider.credential_status").int64(0, 0) == 1)
    }

    @Test func `show indents the lines of a body and prints a long error in full`() throws {
        let id = try insert("url, max_attempts", "'http://h/', 1")
        let words = "an error of more than sixty characters, which a table of many columns would cut somewhere"
        try PGConnection(database).execute(
            """
            insert into postrider_internal.results (job_id, fence, worker, attempt, track, state, status_code,
                                                    error_code, error, body, started_at)
            values (\(id), 1, 1, 1, 0, 'f', 404, 'http_status', '\(words)', E'{\\n"a": 1,\\nstate  succeeded\\033}'::bytea, now())
            """)
        let shown = try run("show", "\(id)").output
        let margin = String(repeating: " ", count: 18)
        #expect(
            shown.contains("\nbody              {\n\(margin)\"a\": 1,\n\(margin)state  succeeded\\u{1b}}\n"), "\(shown)"
        )
        // Between them stands the empty column of the rule.
        #expect(shown.hasSuffix("http_status        \(words)\n"), "\(shown)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The commands of `worker operations` on a real schema.
struct OperationsCommandTests {
    private let database: String
    private let folder: TestFolder

    init() throws {
        database = try TestQueue.makeDatabase()
        folder = try TestFolder()
        try execute("insert into postrider.services (name, base_url) values ('s', 'http://h/')")
    }

    private func execute(_ sql: String) throws { try PGConnection(database).execute(sql) }

    /// The text in the first row and column of a result.
    private func text(_ sql: String) throws -> String { try PGConnection(database).query(sql).text(0, 0) }

    private func run(_ words: String..., role: TestRole? = nil) throws -> WorkerProcess.Outcome {
        let database = role?.database(self.database) ?? self.database
        return try WorkerProcess.run(["operations"] + words + ["--database", database])
    }

    /// Writes a file with one operation for each id, and imports it.
    private func importFile(
        _ ids: [String], method: String = "get", flags: [String] = [], role: TestRole? = nil
    ) throws -> WorkerProcess.Outcome {
        let paths = ids.map { "  /\($0)/{id}:\n    \(method): {operationId: \($0), summary: Does \($0)}" }
        let path = "\(folder.path)/api.yaml"
        try folder.write("api.yaml", "openapi: 3.0.0\npaths:\n\(paths.joined(separator: "\n"))\n")
        let database = role?.database(self.database) ?? self.database
        let words = ["operations", "import", path, "--service", "s", "--database", database]
        return try WorkerProcess.run(words + flags)
    }

    /// The lines of an import that name operations, without notes.
    private func lines(_ outcome: WorkerProcess.Outcome) -> [String] {
        outcome.output.split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("note") && !$0.hasPrefix("insert") && !$0.hasPrefix("--") }
    }

    @Test func `an import adds, changes, keeps and lists operations`() throws {
        #expect(
            try lines(importFile(["a", "b"]))
                == ["s: 2 operations of OpenAPI 3.0.0", "2 added", "added    s.a", "added    s.b"])
        #expect(try lines(importFile(["a", "b"])) == ["s: 2 operations of OpenAPI 3.0.0", "2 same"])
        try execute("update postrider.operations set description = 'mine' where name = 's.a'")
        let kept = try lines(importFile(["a", "c"], method: "put"))
        #expect(
            kept == [
                "s: 2 operations of OpenAPI 3.0.0", "1 added, 1 kept, 1 gone",
                "kept     s.a: was edited since; --force overwrites it", "added    s.c",
                "gone     s.b: is not in the file; delete it if nothing uses it",
            ])
        #expect(try text("select spec ->> 'method' from postrider.operations where name = 's.a'") == "GET")
        #expect(try lines(importFile(["a", "b", "c"], method: "put", flags: ["--force"]))[1] == "2 changed, 1 same")
        #expect(try lines(importFile(["a"], method: "get"))[1] == "1 changed, 2 gone")
        let rows = """
            select string_agg(concat_ws(', ', name, description, spec ->> 'url', revision), '; ' order by name)
            from postrider.operations
            """
        #expect(
            try text(rows)
                == "s.a, Does a, a/{{arg.id}}, 3; s.b, Does b, b/{{arg.id}}, 2; s.c, Does c, c/{{arg.id}}, 1")
    }

    @Test func `an import keeps an operation of the same name that a user wrote`() throws {
        try execute(
            #"insert into postrider.operations (name, service, spec) values ('s.a', 's', '{"url": "mine"}')"#)
        #expect(try lines(importFile(["a"]))[1] == "1 kept")
        #expect(try lines(importFile(["a"], flags: ["--force"]))[1] == "1 changed")
        #expect(try lines(importFile(["a"], method: "put"))[1] == "1 changed")
    }

    @Test func `a dry run changes nothing, and its service need not exist`() throws {
        #expect(try lines(importFile(["a"], flags: ["--dry-run"]))[1] == "1 added")
        try execute("delete from postrider.services")
        let outcome = try importFile(["a"], flags: ["--dry-run"])
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("s: 1 operation of OpenAPI 3.0.0, nothing is changed\n1 added\n"))
        #expect(
            outcome.output.contains(
                "insert into postrider.services (name, base_url) values ('s', 'https://api.example.com');"))
        #expect(try text("select count(*)::text from postrider.operations") == "0")
        #expect(try text("select count(*)::text from postrider.services") == "0")
        let refused = try importFile(["a"])
        #expect(refused.status == 64)
        #expect(refused.output.contains("insert into postrider.services"))
        #expect(refused.output.contains("worker: there is no service \"s\"; insert it first"))
    }

    @Test func `an operation that the database refuses does not stop the others`() throws {
        try folder.write(
            "api.yaml", "openapi: 3.0.0\npaths:\n  /a?token=x: {get: {operationId: a}}\n  /b: {get: {operationId: b}}\n"
        )
        let outcome = try run("import", "\(folder.path)/api.yaml", "--service", "s")
        #expect(outcome.status == 0)
        #expect(
            lines(outcome) == [
                "s: 2 operations of OpenAPI 3.0.0", "1 added, 1 refused",
                "refused  /paths/~1a?token=x/get: operations.spec: url: is a literal secret, which every client could read",
                "added    s.b",
            ])
    }

    @Test(arguments: [
        ("other_files.yaml", "2 added", 3), ("uploads.json", "2 added", 3), ("same_paths.yaml", "4 added", 1),
    ])
    func `files with unusual parts are imported as far as possible`(file: String, summary: String, skipped: Int) throws
    {
        let path = try "\(ProjectFolder.path())/Tests/Fixtures/openapi/\(file)"
        let outcome = try run("import", path, "--service", "s")
        #expect(outcome.status == 0)
        #expect(lines(outcome)[1] == summary, "\(outcome.output)")
        #expect(lines(outcome).count { $0.hasPrefix("skipped") } == skipped, "\(outcome.output)")
        #expect(try lines(run("import", path, "--service", "s"))[1] == summary.replacing("added", with: "same"))
    }

    @Test func `the proposed statements run, and then the import does`() throws {
        let path = try "\(ProjectFolder.path())/Tests/Fixtures/openapi/uploads.json"
        let proposed = try run("import", path, "--service", "files", "--dry-run")
        try execute(
            proposed.output.split(separator: "\n").filter { $0.hasPrefix("insert") || $0.hasPrefix("--") }
                .joined(separator: "\n"))
        #expect(
            try text("select credential || ' ' || base_url from postrider.services where name = 'files'")
                == "files https://eu.example.com/v1")
        #expect(try lines(run("import", path, "--service", "files"))[1] == "2 added")
    }

    @Test func `an imported upload becomes a multipart body`() throws {
        let path = try "\(ProjectFolder.path())/Tests/Fixtures/openapi/uploads.json"
        _ = try run("import", path, "--service", "s")
        let call = #"select postrider.call('s.upload', '{"file": "aGk=", "purpose": "test", "options": {"a": 1}}')"#
        #expect(try text(call + "::text") == "1")
        #expect(
            try text("select body_parts::text from postrider.jobs")
                == #"[{"name": "file", "base64": "aGk=", "filename": "file"}, {"name": "purpose", "content": "test"}, "#
                + #"{"name": "options", "type": "application/json", "content": "{\"a\": 1}"}]"#)
    }

    @Test func `list and show print operations, and clients may use them`() throws {
        _ = try importFile(["a", "b"])
        for role in [TestRole.client, .reader, .admin] {
            let list = try run("list", "--service", "s", role: role)
            #expect(
                list.output
                    == "NAME  ARGUMENTS  REVISION  DESCRIPTION\ns.a   id         1         Does a\ns.b   id         1         Does b\n"
            )
            let shown = try run("show", "s.a", role: role)
            #expect(
                shown.output.hasPrefix("name          s.a\nservice       s\ndescription   Does a\nrevision      1, "))
            #expect(shown.output.contains("call          select postrider.call('s.a', '{\"id\": null}')\n"))
        }
        #expect(try run("list", "--service", "none").output == "NAME  ARGUMENTS  REVISION  DESCRIPTION\n")
        #expect(try run("show", "s.none").status == 64)
    }

    @Test func `only admins import`() throws {
        for role in [TestRole.client, .reader, .nobody] {
            let outcome = try importFile(["a"], role: role)
            #expect(outcome.status == 64)
            #expect(outcome.output.contains("permission denied"), "\(outcome.output)")
        }
        #expect(try text("select count(*)::text from postrider.operations") == "0")
        #expect(try lines(importFile(["a"], role: .admin))[1] == "1 added")
        #expect(try lines(importFile(["a"], method: "put", role: .admin))[1] == "1 changed")
    }

    @Test(arguments: [
        (["operations"], "ACTION"), (["operations", "add"], "\"add\" is not known; give list, show or import"),
        (["operations", "show"], "operations show NAME: is missing"), (["operations", "list", "x"], "takes no name"),
        (["operations", "import"], "operations import FILE: is missing"),
        (["operations", "import", "/none"], "--service: is missing"),
        (["operations", "import", "/none", "--service", "s"], "No such file"),
        (["operations", "list", "--force"], "--force: is only for import"),
    ])
    func `wrong usage ends with 64 and a reason`(words: [String], reason: String) throws {
        let outcome = try WorkerProcess.run(words + ["--database", database])
        #expect(outcome.status == 64)
        #expect(outcome.output.contains(reason), "\(outcome.output)")
    }

    @Test(arguments: [
        ("a:\nb: c: d", "line 2: "), ("swagger: '2.0'", "it is Swagger 2.0"),
        ("openapi: 3.2.0", "is neither 3.0 nor 3.1"),
        ("{}", "the key openapi with the version is missing"),
        ("{\"a\": 1,\n\"b\" 2}", "line 2: a : is missing after a key"),
        ("", "it is not an object"),
    ])
    func `a file that is no OpenAPI document is refused with its defect`(text: String, reason: String) throws {
        try folder.write("bad", text)
        let outcome = try run("import", "\(folder.path)/bad", "--service", "s")
        #expect(outcome.status == 64)
        #expect(outcome.output.contains(reason), "\(outcome.output)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import PrivateCluster
import TestSupport
import Testing

/// The reference pages must name what the program and the schema have.
struct ReferenceTests {
    @Test func `make generate would change neither the SQL reference nor the command-line reference`() throws {
        let project = try ProjectFolder.path()
        let folder = try TestFolder()
        let (status, output) = try ChildProcess.run([
            ProjectFolder.python(), project + "/scripts/generate_reference.py", WorkerProcess.path, folder.path,
        ])
        try #require(status == 0, "\(output)")
        for page in ["sql.md", "cli.md"] {
            let difference = try ChildProcess.run(["diff", project + "/docs/reference/" + page, folder.path(page)])
            #expect(difference.status == 0, "run make generate: \(difference.output)")
        }
    }

    @Test(arguments: [("log.txt", "log-events.md"), ("metrics.txt", "metrics.md")])
    func `each name of a public list stands on its reference page`(list: String, page: String) throws {
        let project = try ProjectFolder.path()
        let names = try ChildProcess.run(["cat", project + "/Tests/PublicSurfaceTests/Lists/" + list]).output
        let text = try ChildProcess.run(["cat", project + "/docs/reference/" + page]).output
        // Of an event and its field, the field is the last word; of a metric and its type, the metric is the first.
        let words = names.split(separator: "\n").map { line in
            let parts = line.split(separator: " ")
            return String(list == "log.txt" ? parts[parts.count - 1] : parts[0])
        }
        try #require(!words.isEmpty)
        for word in Set(words) { #expect(text.contains("`\(word)`"), "\(word)") }
    }
}

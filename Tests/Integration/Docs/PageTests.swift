// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrivateCluster
import TestSupport
import Testing

/// The examples on the pages for users must work as shown. `scripts/run_page.py` describes the rules.
struct PageTests {
    /// Folders with pages. One program runs all pages of a folder, each with a database and a worker.
    private static let folders = ["", "docs", "docs/recipes"]

    /// The pages of a folder that have blocks to run.
    private static func pages(of folder: String) throws -> [String] {
        let path = try ProjectFolder.path() + "/" + folder
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            .filter { $0.hasSuffix(".md") }.map { "\(path)/\($0)" }
            .filter {
                let text = try String(contentsOfFile: $0, encoding: .utf8)
                return text.contains("\n```sql\n") || text.contains("\n```sh\n")
            }
    }

    @Test(arguments: folders)
    func `the blocks of each page run and print the output that the page shows`(folder: String) throws {
        let script = try ProjectFolder.path() + "/scripts/run_page.py"
        let pages = try Self.pages(of: folder)
        try #require(!pages.isEmpty)
        let (status, output) = try ChildProcess.run(
            [ProjectFolder.python(), script, "--worker", WorkerProcess.path] + pages)
        #expect(status == 0, "\(output)")
    }
}

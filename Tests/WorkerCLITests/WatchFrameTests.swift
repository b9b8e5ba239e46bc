// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

/// The conversion of the rows of `worker watch` to lines of a terminal.
struct WatchFrameTests {
    private let tree = [
        WatchRow(id: 12, title: "chain signup", state: "running", members: (3, 1, 0, 1)),
        WatchRow(depth: 1, id: 13, title: "register POST http://api.example/register", state: "succeeded", note: "201"),
        WatchRow(
            depth: 1, id: 14, title: "batch fan", state: "failed", members: (1000, 1000, 3, 0), note: "child_failed"),
        WatchRow(
            depth: 2, id: 99, title: "GET http://files.example/big", state: "running", bytes: (12_345_678, 40_000_000)),
        WatchRow(depth: 2, id: 100, title: "GET http://files.example/endless", state: "running", bytes: (999_999, nil)),
    ]

    @Test func `at 80 columns, each job has a line with its bar and counts`() {
        #expect(
            WatchFrame.lines(tree, width: 80) == [
                "12 chain signup           running    [#####...........] 1/3, 1 under way",
                "  13 register POST http:… succeeded                     201",
                "  14 batch fan            failed     [################] 1000/1000, 3 failed chi…",
                "    99 GET http://files.… running    [####............] 12.3/40.0 MB",
                "    100 GET http://files… running                       0.9 MB",
            ])
    }

    @Test(arguments: [1, 12, 20, 40, 59, 60, 79, 200])
    func `no line of watch is wider than the terminal`(width: Int) {
        for line in WatchFrame.lines(tree, width: width) { #expect(line.count <= width) }
    }

    @Test func `a progress bar is full only when all members are done`() {
        #expect(WatchFrame.bar(WatchRow(members: (10_000, 9_999, 0, 1))) == "[###############.]")
        #expect(WatchFrame.bar(WatchRow(members: (10_000, 10_000, 0, 0))) == "[################]")
        #expect(WatchFrame.bar(WatchRow(members: (0, 0, 0, 0))) == nil)
        #expect(WatchFrame.bar(WatchRow(bytes: (9, 0))) == nil)
    }

    @Test func `a line for a file shows counts and sizes without a bar`() {
        #expect(
            tree.map(\.line) == [
                "12 chain signup running 1/3, 1 under way",
                "  13 register POST http://api.example/register succeeded 201",
                "  14 batch fan failed 1000/1000, 3 failed child_failed",
                "    99 GET http://files.example/big running 12.3/40.0 MB",
                "    100 GET http://files.example/endless running 0.9 MB",
            ])
    }
}

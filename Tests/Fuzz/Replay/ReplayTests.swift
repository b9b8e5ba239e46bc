// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import WorkerCLI

/// The kept inputs of the fuzz targets, among them the inputs of all findings.
struct ReplayTests {
    private static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = try ProjectFolder.path() + "/Tests/Fuzz/Corpus/" + target.rawValue
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))))
        }
    }

    // A process can have one server of pages, which other tests use. So a worker gets its inputs.
    @Test(arguments: FuzzTarget.allCases.filter { $0 != .server })
    func `each kept input keeps the rules of its target`(target: FuzzTarget) throws {
        let inputs = try Self.inputs(of: target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(throws: Never.self, "\(input.name)") { try target.run(input.bytes) }
        }
    }

    @Test func `a worker answers requests after each kept input`() throws {
        let queue = try TestQueue()
        let port = LoopbackPort.free()
        let worker = try RunningWorker(queue.database, ["--http", "127.0.0.1:\(port)"])
        let question = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        try TestClock.wait(20, for: "the pages") {
            ServerTarget.send(question, to: port).starts(with: "HTTP/1.1 200".utf8)
        }
        for input in try Self.inputs(of: .server) {
            let answer = ServerTarget.send(input.bytes, to: port)
            #expect(answer.isEmpty || answer.starts(with: "HTTP/1.".utf8), "\(input.name)")
        }
        #expect(ServerTarget.send(question, to: port).starts(with: "HTTP/1.1 200".utf8))
        #expect(worker.end(SIGTERM) == 0)
    }
}

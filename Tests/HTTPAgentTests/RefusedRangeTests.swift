// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Servers that refuse a range request with an error status, but would send the whole file.
struct RefusedRangeTests {
    private let folder: TestFolder
    private let driver: AgentDriver

    init() throws {
        folder = try TestFolder()
        driver = try AgentDriver(filesRoot: folder.path)
    }

    /// A target whose first answer breaks off after `0123`. The later answers are `answer`.
    private func target(_ answer: @escaping @Sendable (TargetRequest) -> [TargetStep]) throws -> TargetServer {
        try TargetServer { request in
            guard request.turn == 1 else { return answer(request) }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\n0123"
            return [.send([UInt8](head.utf8)), .pause(milliseconds: 50), .close]
        }
    }

    /// Breaks a download off, resumes it, and returns the second outcome.
    private func resume(_ target: TargetServer, isRepeatable: Bool = true) throws -> CallOutcome {
        let call = HTTPCall(
            url: target.url, download: Download(path: "file"), limits: CallLimits(total: .seconds(20)),
            allowsPrivateNetwork: true, isRepeatable: isRepeatable)
        #expect(try driver.run(call).failure().code == .truncated)
        return try driver.run(call)
    }

    @Test(arguments: [400, 403, 404, 410, 412, 416])
    func `a refused range request is repeated without a range in the same attempt`(status: Int) throws {
        let target = try target { request in
            request.header("range") == nil ? TargetStep.answer(200, "ABCDEFGHIJ") : TargetStep.answer(status, "no")
        }
        let outcome = try resume(target)
        #expect(try outcome.response().status == 200 && outcome.download?.isComplete == true, "\(outcome)")
        #expect(folder.read("file") == [UInt8]("ABCDEFGHIJ".utf8))
        #expect(target.requests.map { $0.header("range") } == [nil, "bytes=4-", nil])
        #expect(outcome.bytesReceived > 0 && outcome.bytesSent > Int64(2 * "GET / HTTP/1.1".utf8.count))
    }

    @Test(arguments: [404, 403])
    func `a refusal of the whole file is the answer, and the part stays`(status: Int) throws {
        let target = try target { _ in TargetStep.answer(status, "no") }
        #expect(try resume(target).response().status == status)
        #expect(target.requests.map { $0.header("range") } == [nil, "bytes=4-", nil])
        #expect(folder.size("file.part") == 4)
    }

    @Test(arguments: [
        (403, ["Retry-After: 1"]), (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 30"]), (429, []),
        (401, []), (500, []), (409, []),
    ])
    func `a resume request is not repeated after an error unrelated to the range`(
        status: Int, headers: [String]
    ) throws {
        let target = try target { _ in TargetStep.answer(status, "later", headers: headers) }
        #expect(try resume(target).response().status == status)
        #expect(target.requests.map { $0.header("range") } == [nil, "bytes=4-"])
    }

    @Test(arguments: [404, 416])
    func `a call that must not repeat is not sent again without its range`(status: Int) throws {
        let target = try target { _ in TargetStep.answer(status, "no") }
        #expect(try resume(target, isRepeatable: false).response().status == status)
        #expect(target.requests.count == 2)
    }
}

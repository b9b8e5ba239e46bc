// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

/// Bodies with a Content-Encoding: whole, broken and cut off.
struct ContentCodingTests {
    private static let first = "hello, world; "
    private static let gzip = "1f8b08000000000002ffcb48cdc9c9d75128cf2fca49b1560000cdeca7dd0e000000"
    private static let secondGzip = "1f8b08000000000002ff4bcc4b51c8cd2f4a0500dc07585a08000000"
    private static let zlib = "789ccb48cdc9c9d75128cf2fca49b156000026fc04e4"
    private static let bare = "cb48cdc9c9d75128cf2fca49b1560000"
    private static let twice =
        "1f8b08000000000002ff93efe6600001a6ffa73dce9e3c793d50e3bcfe29cf8d610c0c67df2cbfcb079401000042877022000000"

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).map { UInt8(hex.dropFirst($0).prefix(2), radix: 16) ?? 0 }
    }

    private func run(
        _ body: [UInt8], _ headers: [String], status: Int = 200, method: HTTPMethod = .get, asks: [HTTPHeader] = [],
        limit: Int = 1 << 20, decodes: Bool = true
    ) throws -> CallOutcome {
        let head = ["HTTP/1.1 \(status) X", "Connection: close"] + headers
        let target = try TargetServer { _ in
            [.send([UInt8]((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body), .close]
        }
        var call = HTTPCall(
            method: method, url: target.url, headers: asks,
            limits: CallLimits(total: .seconds(20), maxResponseBytes: limit), allowsPrivateNetwork: true)
        call.decodesBody = decodes
        return try AgentDriver().run(call)
    }

    @Test(arguments: [
        ("gzip", gzip), ("X-GZIP", gzip), ("deflate", zlib), ("deflate", bare), ("gzip, gzip", twice),
        ("identity, gzip", gzip), ("gzip", gzip + "0000000000"),
    ])
    func `a complete gzip or deflate body is decoded`(coding: String, hex: String) throws {
        #expect(try run(Self.bytes(hex), ["Content-Encoding: \(coding)"]).response().text == Self.first)
    }

    @Test func `a gzip body of several members is decoded in full`() throws {
        let body = Self.bytes(Self.gzip + Self.secondGzip)
        #expect(try run(body, ["Content-Encoding: gzip"]).response().text == Self.first + "and more")
    }

    @Test(arguments: [
        ("gzip", gzip, 20), ("gzip", gzip, 10), ("gzip", gzip, 33), ("gzip", gzip + secondGzip, 40),
        ("deflate", zlib, 12), ("deflate", bare, 12), ("gzip, gzip", twice, 30),
    ])
    func `an answer that ends inside its compressed stream is truncated, even with matching Content-Length`(
        coding: String, hex: String, count: Int
    ) throws {
        let body = Array(Self.bytes(hex).prefix(count))
        for headers in [["Content-Length: \(count)"], []] {
            var outcome = try run(body, ["Content-Encoding: \(coding)"] + headers)
            #expect(try outcome.response().body == body)
            outcome.demandBody(of: .success)
            let failure = try outcome.failure()
            #expect(failure.code == .truncated && failure.status == 200 && failure.sent == .maybe, "\(failure)")
        }
    }

    @Test(arguments: [
        ("gzip", gzip + "6a756e6b"), ("gzip", gzip + "0000006a"), ("deflate", zlib + "6a"), ("gzip", "6e6f74"),
        ("br", "0b068068656c6c6f03"), ("gzip, x-own", gzip),
    ])
    func `a body that cannot be decoded is kept as received and reported as decode`(
        coding: String, hex: String
    ) throws {
        for status in [200, 400, 500] {
            let outcome = try run(Self.bytes(hex), ["Content-Encoding: \(coding)"], status: status)
            let response = try outcome.response()
            let defect = try #require(response.bodyDefect)
            #expect(response.body == Self.bytes(hex) && response.status == status)
            #expect(defect.code == .decode && defect.status == status && !defect.message.contains("memory"))
            func verdict(atMostOnce: Bool = false, isIdempotent: Bool) -> Verdict {
                Verdict(
                    outcome, okStatuses: .success, isAtMostOnce: atMostOnce, isIdempotent: isIdempotent, attempt: 1)
            }
            let isRetried = status == 500
            #expect(verdict(isIdempotent: true).kind == (status == 400 ? .failed : .retryable))
            #expect(verdict(isIdempotent: false).kind == (isRetried ? .retryable : .failed))
            #expect(verdict(isIdempotent: false).code == (status == 200 ? .decode : .httpStatus))
            #expect(verdict(atMostOnce: true, isIdempotent: false).kind == .failed)
        }
    }

    @Test(arguments: [
        "UTF-8", "binary", "aws-chunked", "identity", "", "utf8", "iso-8859-1", "text/html", "charset=utf-8", "8bit",
        "aws-chunked, identity",
    ])
    func `a Content-Encoding value that names no compression is ignored`(value: String) throws {
        let outcome = try run([UInt8]("plain".utf8), ["Content-Encoding: \(value)"])
        #expect(try outcome.response().text == "plain")
        let gzip = try run(Self.bytes(Self.gzip), ["Content-Encoding: \(value)", "Content-Encoding: gzip"])
        #expect(try gzip.response().text == Self.first)
    }

    @Test(arguments: ["gzip", "br", "x-own"])
    func `a call with decoding switched off gets the body as received`(coding: String) throws {
        for (body, asks) in [(Self.gzip, []), ("6e6f74", [HTTPHeader("Accept-Encoding", "br, gzip")])] {
            let outcome = try run(Self.bytes(body), ["Content-Encoding: \(coding)"], asks: asks, decodes: false)
            #expect(try outcome.response().body == Self.bytes(body))
            #expect(try outcome.response().bodyDefect == nil)
        }
    }

    @Test(arguments: [0, 3, 600, 70_000, 300_000])
    func `a body that breaks after any number of decoded bytes is kept as received`(count: Int) throws {
        // Stored blocks in a gzip frame: about as many bytes as they hold, cut off by a wrong block type.
        var body = Self.bytes("1f8b08000000000002ff")
        for start in stride(from: 0, to: count, by: 65_535) {
            let size = min(65_535, count - start)
            body += [0, UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8 & 255)]
            body += (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        }
        body += [7] + (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let response = try run(body, ["Content-Encoding: gzip"], status: 404).response()
        #expect(response.body == body && response.bodyDefect?.code == .decode)
        // The received and the decoded bytes together exceed the limit. Then the agent drops the received ones.
        let small = try run(body, ["Content-Encoding: gzip"], status: 404, limit: count + 200)
        let code: ErrorCode? =
            switch small.ending {
            case .response(let response): response.bodyDefect?.code
            case .failure(let failure): failure.code
            }
        #expect(code == .decode || code == .tooLarge)
    }

    @Test func `an undecodable answer to a job's own Accept-Encoding keeps its status`() throws {
        let outcome = try run(
            [UInt8]("plain".utf8), ["Content-Encoding: UTF-8"], status: 404, asks: [HTTPHeader("Accept-Encoding", "br")]
        )
        #expect(try outcome.response().status == 404 && outcome.response().bodyDefect?.code == .decode)
    }

    @Test func `a job that sends Accept-Encoding: br gets brotli and gzip answers decoded`() throws {
        let body = Self.bytes("0b028068656c6c6f03")
        let asks = [HTTPHeader("Accept-Encoding", "br")]
        #expect(try run(body, ["Content-Encoding: br"], asks: asks).response().text == "hello")
        #expect(try run(Self.bytes(Self.gzip), ["Content-Encoding: gzip"], asks: asks).response().text == Self.first)
    }

    @Test func `an empty body with Content-Encoding is complete`() throws {
        let gzip = ["Content-Encoding: gzip"]
        #expect(try run([], gzip + ["Content-Length: 34"], method: .head).response().status == 200)
        #expect(try run([], gzip, status: 204).response().status == 204)
        #expect(try run([], gzip, status: 304).response().status == 304)
        #expect(try run([], gzip + ["Content-Length: 0"]).response().body.isEmpty)
        #expect(try run([], gzip).response().body.isEmpty)
    }

    @Test func `the size limit counts decoded bytes, including the bytes between two encodings`() throws {
        let body = Self.bytes(Self.gzip)
        #expect(try run(body, ["Content-Encoding: gzip", "Content-Length: 34"], limit: 34).response().body.count == 14)
        let server = try HostileServer()
        let bomb = HTTPCall(
            url: server.url("/bomb"), limits: CallLimits(total: .seconds(20), maxResponseBytes: 1 << 20),
            allowsPrivateNetwork: true)
        #expect(try AgentDriver().run(bomb).failure().code == .tooLarge)
        // 52 bytes decode to 34 and then to 14. The 34 bytes exceed the limit.
        let twice = try run(Self.bytes(Self.twice), ["Content-Encoding: gzip, gzip"], limit: 33).failure()
        #expect(twice.code == .tooLarge)
    }

    @Test func `a call sends Accept-Encoding: gzip by default`() throws {
        let text = try AgentDriver().run(Hostile.call("/echo")).response().text
        #expect(text.contains("Accept-Encoding: gzip\r\n"))
    }
}

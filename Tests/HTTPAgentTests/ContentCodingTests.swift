// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

/// What a Content-Encoding hides, whole, broken and cut off.
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
        limit: Int = 1 << 20
    ) throws -> CallOutcome {
        let head = ["HTTP/1.1 \(status) X", "Connection: close"] + headers
        let target = try TargetServer { _ in
            [.send([UInt8]((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body), .close]
        }
        return try AgentDriver().run(
            HTTPCall(
                method: method, url: target.url, headers: asks,
                limits: CallLimits(total: .seconds(20), maxResponseBytes: limit), allowsPrivateNetwork: true))
    }

    @Test(arguments: [
        ("gzip", gzip), ("X-GZIP", gzip), ("deflate", zlib), ("deflate", bare), ("gzip, gzip", twice),
        ("identity, gzip", gzip), ("gzip", gzip + "0000000000"),
    ])
    func `what is whole is decoded`(coding: String, hex: String) throws {
        #expect(try run(Self.bytes(hex), ["Content-Encoding: \(coding)"]).response().text == Self.first)
    }

    @Test func `gzip of several members is all of them`() throws {
        let body = Self.bytes(Self.gzip + Self.secondGzip)
        #expect(try run(body, ["Content-Encoding: gzip"]).response().text == Self.first + "and more")
    }

    @Test(arguments: [
        ("gzip", gzip, 20), ("gzip", gzip, 10), ("gzip", gzip, 33), ("gzip", gzip + secondGzip, 40),
        ("deflate", zlib, 12), ("deflate", bare, 12), ("gzip, gzip", twice, 30),
    ])
    func `an answer that ends inside its encoding is truncated, whatever its length says`(
        coding: String, hex: String, count: Int
    ) throws {
        let body = Array(Self.bytes(hex).prefix(count))
        for headers in [["Content-Length: \(count)"], []] {
            let failure = try run(body, ["Content-Encoding: \(coding)"] + headers).failure()
            #expect(failure.code == .truncated && failure.status == 200 && failure.sent == .maybe, "\(failure)")
        }
    }

    @Test(arguments: [
        ("gzip", gzip + "6a756e6b"), ("gzip", gzip + "0000006a"), ("deflate", zlib + "6a"), ("gzip", "6e6f74"),
        ("br", "0b068068656c6c6f03"), ("gzip, gzip, gzip, gzip, gzip, gzip", gzip),
    ])
    func `what is broken, has more behind its end or was not asked for ends as decode`(
        coding: String, hex: String
    ) throws {
        let failure = try run(Self.bytes(hex), ["Content-Encoding: \(coding)"]).failure()
        #expect(failure.code == .decode && failure.status == 200 && !failure.message.contains("memory"), "\(failure)")
    }

    @Test func `a job that asks for brotli itself gets it decoded`() throws {
        let body = Self.bytes("0b028068656c6c6f03")
        let asks = [HTTPHeader("Accept-Encoding", "br")]
        #expect(try run(body, ["Content-Encoding: br"], asks: asks).response().text == "hello")
        #expect(try run(Self.bytes(Self.gzip), ["Content-Encoding: gzip"], asks: asks).response().text == Self.first)
    }

    @Test func `no body is no stream that broke off`() throws {
        let gzip = ["Content-Encoding: gzip"]
        #expect(try run([], gzip + ["Content-Length: 34"], method: .head).response().status == 200)
        #expect(try run([], gzip, status: 204).response().status == 204)
        #expect(try run([], gzip, status: 304).response().status == 304)
        #expect(try run([], gzip + ["Content-Length: 0"]).response().body.isEmpty)
        #expect(try run([], gzip).response().body.isEmpty)
    }

    @Test func `the limit counts what is decoded, to the byte, and what lies between two encodings`() throws {
        let body = Self.bytes(Self.gzip)
        #expect(try run(body, ["Content-Encoding: gzip", "Content-Length: 34"], limit: 34).response().body.count == 14)
        let server = try HostileServer()
        let bomb = HTTPCall(
            url: server.url("/bomb"), limits: CallLimits(total: .seconds(20), maxResponseBytes: 1 << 20),
            allowsPrivateNetwork: true)
        #expect(try AgentDriver().run(bomb).failure().code == .tooLarge)
        // 52 bytes that become 34 and then 14: the 34 are too many.
        let twice = try run(Self.bytes(Self.twice), ["Content-Encoding: gzip, gzip"], limit: 33).failure()
        #expect(twice.code == .tooLarge)
    }

    @Test func `only what can be decoded and its end be told is asked for`() throws {
        let text = try AgentDriver().run(Hostile.call("/echo")).response().text
        #expect(text.contains("Accept-Encoding: gzip\r\n"))
    }
}

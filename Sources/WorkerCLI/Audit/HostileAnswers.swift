// SPDX-License-Identifier: Apache-2.0

internal import HostileTarget
internal import JobModel

/// Answers that no correct server gives, from the paths of a `HostileServer`.
enum HostileAnswers {
    private static let group = "answers"
    /// How much the process may grow while 1 GiB is decompressed into an answer of at most 10 MiB.
    private static let bombGrowth = 64 << 20

    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        failures(ground) + limits(ground) + exact(ground)
    }

    /// Answers that must end the call with a failure.
    private static func failures(_ ground: AuditGround) -> [HostileInput] {
        let answers: [(text: String, path: String, code: ErrorCode)] = [
            ("headers cut short", "/cut-headers", .truncated), ("a header line cut short", "/cut-line", .truncated),
            ("a 1xx answer and no other", "/only-interim", .emptyReply),
            ("a body cut short", "/cut-length", .truncated),
            ("chunks cut short", "/cut-chunks", .truncated), ("a false Content-Encoding", "/bad-gzip", .decode),
            ("six encodings, one in the other", "/stacked", .decode),
            ("one header of 200 KB", "/huge-header", .headersTooLarge),
            ("headers of 1 MB", "/huge-headers", .headersTooLarge),
            ("a status line without end", "/endless-line", .headersTooLarge),
            ("1xx answers without end", "/endless-interim", .headersTooLarge),
            ("trailers without end", "/endless-trailers", .headersTooLarge),
            ("chunks without end", "/endless", .tooLarge),
            ("zeros without end behind gzip", "/padded-gzip", .tooLarge),
        ]
        // If a kept connection breaks before an answer, a repeatable request is sent once more on a new connection.
        let broken: [(text: String, path: String, code: ErrorCode)] = [
            ("a connection that is reset", "/reset", .reset), ("a connection that closes", "/empty", .emptyReply),
        ]
        // Answers that are not HTTP. Versions of libcurl report them with different codes.
        let malformed: [(text: String, path: String)] = [
            ("the greeting of a mail server", "/garbage"), ("a chunk without a length", "/bad-chunk"),
            ("a chunk with a length of 68 bits", "/huge-chunk"), ("two lengths that differ", "/two-lengths"),
            ("a length of -1", "/negative-length"), ("a length of 23 digits", "/huge-length"),
            ("a length of 5, 10", "/length-list"), ("a length of 1,000", "/length-comma"),
            ("a length of 0x2", "/length-hex"),
            ("NUL in a header", "/nul-header"), ("HTTP/7.3", "/odd-version"),
        ]
        return answers.map { text, path, code in
            HostileInput(group, text, ground.call(path), .failed([code], requests: 1))
        }
            + malformed.map { text, path in
                HostileInput(group, text, ground.call(path), .failed([.reset, .truncated], requests: 1))
            }
            + broken.flatMap { text, path, code in
                [
                    HostileInput(group, text + ", on a GET", ground.call(path), .failed([code], requests: 2)),
                    HostileInput(
                        group, text + ", on a POST, which is not repeated", ground.call(path, method: .post),
                        .failed([.reset], requests: 1)),
                ]
            }
    }

    /// Answers that a limit of the call must cut off.
    private static func limits(_ ground: AuditGround) -> [HostileInput] {
        let late = CallLimits(total: .seconds(5), firstByte: .milliseconds(150))
        let slow = CallLimits(total: .seconds(8), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        return [
            HostileInput(
                group, "1 GiB in 1 MB of gzip", ground.call("/bomb", limits: CallLimits(total: .seconds(10))),
                .failed([.tooLarge], requests: 1), growthLimit: bombGrowth),
            HostileInput(
                group, "1 GiB in 1 MB of gzip, which libcurl unpacks",
                ground.call(
                    "/bomb", headers: [HTTPHeader("Accept-Encoding", "br, gzip")],
                    limits: CallLimits(total: .seconds(10))),
                .failed([.tooLarge], requests: 1), growthLimit: bombGrowth),
            HostileInput(
                group, "silence, with a limit for the first byte", ground.call("/silent", limits: late),
                .failed([.firstByteTimeout], requests: 1)),
            HostileInput(
                group, "silence", ground.call("/silent", limits: CallLimits(total: .milliseconds(300))),
                .failed([.timeout], requests: 1)),
            HostileInput(
                group, "a byte now and then", ground.call("/drip", limits: slow), .failed([.slow], requests: 1)),
            HostileInput(
                group, "the extension of a chunk without end", ground.call("/endless-extension", limits: slow),
                .failed([.slow], requests: 1)),
        ]
    }

    /// Odd answers that the call must accept, with exactly this body and these headers.
    private static func exact(_ ground: AuditGround) -> [HostileInput] {
        let ok = AuditGround.innocentBody
        let nul = [0, 0xFF, 0xFE] + [UInt8](#"{"a":"\u0000"}"#.utf8) + [0]
        let many = (1...300).map { "x-dup: \($0)" } + ["content-length: 0"]
        let answers: [(text: String, path: String, body: [UInt8], headers: [String]?)] = [
            ("a body of NUL and bytes that are not text", "/nul", nul, nil),
            ("300 headers of one name", "/many-headers", [], many),
            ("a header on two lines", "/folded", [], ["x-fold: one two", "content-length: 0"]),
            ("1xx answers before the answer", "/interim", ok, ["x-final: yes", "content-length: 2"]),
            ("the same length twice", "/length-twice", ok, nil),
            ("a length of 2, 2", "/lengths-alike", ok, nil),
            ("a length together with chunks, which is ignored", "/length-and-chunks", ok, nil),
            ("a lone CR in a header", "/bare-return", ok, ["x-odd: a X-Injected: b", "content-length: 2"]),
            ("spaces in the name of a header", "/odd-name", ok, ["x-fine: c", "content-length: 2"]),
        ]
        return answers.map { text, path, body, headers in
            HostileInput(group, text, ground.call(path), .answered(body: body, headers: headers))
        } + [
            // The status is not one that a job would accept. The bytes after it count as its body, up to the end of the
            // connection.
            HostileInput(
                group, "a change of protocol without a request", ground.call("/switch"),
                .answered(status: 101, body: [UInt8]("no HTTP".utf8), headers: nil))
        ]
    }
}

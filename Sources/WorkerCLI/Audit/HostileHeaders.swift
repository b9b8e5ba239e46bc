// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Headers, parts and forms that try to inject further lines into a request.
enum HostileHeaders {
    private static let group = "headers"
    private static let injection = "a\r\nX-Injected: 1"

    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        refused(ground) + harmless(ground)
    }

    private static func refused(_ ground: AuditGround) -> [HostileInput] {
        let values = [
            "\(injection)", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\0b", "a\u{1b}[2J", "a\u{7f}", "a\r\n b",
            "a\r\n\r\nGET /second HTTP/1.1",
        ]
        let names = [
            "", " ", "X A", "X-A ", " X-A", "X-A:", "X-A;", ":authority", "X\r\nX-Injected", "X\0", "X\tA", "Hüt", "@a",
            "\"a\"",
        ]
        // Headers that the agent or the proxy sets itself.
        let owned = [
            ("Host", "example.com"), ("host", "example.com"), ("Content-Length", "0"), ("content-length", "9999"),
            ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Connection", "X-Api-Key"),
            ("Expect", "100-continue"),
            ("TE", "trailers"), ("Trailer", "X-A"), ("Upgrade", "h2c"), ("Keep-Alive", "timeout=9"),
            ("Proxy-Authorization", "Basic \(HostileInput.secret)"), ("Proxy-Connection", "close"), ("proxy-x", "a"),
        ]
        var headers = values.map { HTTPHeader("X-A", $0) }
        headers += ["User-Agent", "Referer", "Cookie", "Range", "Content-Type", "Accept-Encoding", "Authorization"]
            .map { HTTPHeader($0, injection) }
        headers += names.map { HTTPHeader($0, HostileInput.secret) }
        headers += owned.map { HTTPHeader($0, $1) }
        let single = headers.map { header in
            HostileInput(
                group, "\"\(header.name): \(header.value.replacing(HostileInput.secret, with: "…"))\"",
                ground.call("/echo", headers: [header]), .refused([.badHeader]))
        }
        let part = BodyPart(name: "a", content: .bytes([65]), type: "text/plain\(injection)")
        return single + [
            HostileInput(
                group, "CR and LF in the type of a body",
                ground.call("/echo", method: .post, body: .bytes([65], contentType: "text/plain\(injection)")),
                .refused([.badHeader])),
            HostileInput(
                group, "CR and LF in the type of a part", ground.call("/echo", method: .post, body: .parts([part])),
                .refused([.badHeader])),
            HostileInput(
                group, "NUL in the name of a part",
                ground.call("/echo", method: .post, body: .parts([BodyPart(name: "a\0b", content: .bytes([65]))])),
                .refused([.badHeader])),
            HostileInput(
                group, "headers of 600,000 bytes",
                ground.call("/echo", headers: [HTTPHeader("X-A", String(repeating: "a", count: 600_000))]),
                .refused([.badHeader])),
        ]
    }

    /// Inputs that may be sent, but must not add lines or requests.
    private static func harmless(_ ground: AuditGround) -> [HostileInput] {
        let odd = [
            HTTPHeader("X-A", "b; c: d"), HTTPHeader("X-Empty", ""), HTTPHeader("X-A", "\"e\" @f"),
            HTTPHeader("X-B", ";"),
        ]
        let lacks = ["x-injected:", "get /second"]
        let part = BodyPart(name: "a\"\(injection)", content: .bytes([65]), filename: "b\"\(injection)")
        return [
            HostileInput(
                group, "values of colons, semicolons and nothing", ground.call("/echo", headers: odd),
                .arrived(holds: ["X-A: b; c: d", "X-Empty:", "X-A: \"e\" @f", "X-B: ;"], lacks: [])),
            HostileInput(
                group, "an Accept and a User-Agent of nothing",
                ground.call("/echo", headers: [HTTPHeader("Accept", ""), HTTPHeader("User-Agent", "")]),
                .arrived(holds: ["Accept:", "User-Agent:"], lacks: ["accept: ", "user-agent: "])),
            HostileInput(
                group, "CR, LF and quotes in the name and filename of a part",
                ground.call("/echo", method: .post, body: .parts([part])), .arrived(holds: [], lacks: lacks)),
            HostileInput(
                group, "CR and LF in a form",
                ground.call("/echo", method: .post, body: .form([FormField(injection, injection)])),
                .arrived(holds: [], lacks: lacks)),
            HostileInput(
                group, "a request inside the body of a request",
                ground.call(
                    "/echo", method: .post,
                    body: .bytes([UInt8]("GET /ok HTTP/1.1\r\nHost: a\r\n\r\n".utf8), contentType: "text/x-audit")),
                .arrived(holds: ["POST /echo HTTP/1.1", "Content-Length: 29"], lacks: ["transfer-encoding:"])),
        ]
    }
}

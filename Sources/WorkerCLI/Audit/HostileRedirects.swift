// SPDX-License-Identifier: Apache-2.0

internal import HostileTarget
internal import JobModel

/// Redirects to other protocols, in circles, and to another origin with data that it must not get.
enum HostileRedirects {
    private static let group = "redirects"

    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        denied(ground) + headers(ground) + bodies(ground) + locations(ground)
    }

    private static func denied(_ ground: AuditGround) -> [HostileInput] {
        let other = "127.0.0.1:\(ground.second.port)"
        let targets = [
            "ftp://\(other)/", "file:///etc/hostname", "file://localhost/etc/hostname", "gopher://\(other)/_a",
            "dict://\(other)/info", "ldap://\(other)/", "smb://\(other)/a", "telnet://\(other)/", "http:///ok",
            "http:/ok",
            "http://", "http://127.0.0.1:0/", "http://127.0.0.1:70000/", "http:\\\\\(other)\\ok", "\\\\\(other)\\ok",
            "/\\\(other)/ok", "http://\(other)\\@example.com/ok",
        ]
        let elsewhere = targets.map { target in
            HostileInput(
                group, "to \(target)", ground.call("/location?to=" + percent(target)),
                .failed([.deniedRedirect], requests: 1))
        }
        let bytes = [
            ("a tab", "http://\(other)\t/ok"), ("a tab in the scheme", "ht\ttp://\(other)/ok"),
            ("an escape", "/ok\u{1b}[2J"),
            ("byte 1", "/ok\u{1}"), ("DEL", "/ok\u{7f}"),
            ("a space in the host", "http://127.0.0.1 :\(ground.second.port)/ok"),
        ]
        return elsewhere
            + bytes.map { name, target in
                HostileInput(
                    group, "\(name) in Location", ground.call("/location?to=" + percent(target)),
                    .failed([.deniedRedirect], requests: 1))
            } + [
                HostileInput(
                    group, "in an endless loop", ground.call("/loop"), .failed([.deniedRedirect], requests: 6))
            ]
    }

    private static func headers(_ ground: AuditGround) -> [HostileInput] {
        let secret = HostileInput.secret
        // Another origin gets the forwarded headers, but not the withheld ones.
        let forwarded = [
            HTTPHeader("Accept", "text/x-audit"), HTTPHeader("Accept-Language", "de"),
            HTTPHeader("User-Agent", "audit"),
            HTTPHeader("Content-Type", "text/x-audit"),
        ]
        let withheld = [
            HTTPHeader("Authorization", "Bearer \(secret)"), HTTPHeader("Cookie", "session=\(secret)"),
            HTTPHeader("X-Api-Key", secret), HTTPHeader("X-Auth-Token", secret),
            HTTPHeader("Referer", "http://h/\(secret)"),
            HTTPHeader("X-Forwarded-For", "10.0.0.1"), HTTPHeader("Idempotency-Key", secret),
            HTTPHeader("Range", "bytes=0-9"),
        ]
        let names = withheld.map { $0.name.lowercased() + ":" }
        let lines = forwarded.map { "\($0.name): \($0.value)" }
        let other = ground.second.url("/echo")
        // The first four may go to the same origin.
        let sameOriginLines = withheld.prefix(4).map { "\($0.name): \($0.value)" }
        let withUser = ground.first.url("/redirect?to=" + other).replacing(
            "://", with: "://user:\(secret)@", maxReplacements: 1)
        var jar = ground.call("/cookies?to=" + other)
        jar.keepsCookies = true
        var ownJar = ground.call("/cookies?to=/echo")
        ownJar.keepsCookies = true
        return [
            HostileInput(
                group, "to another origin, with twelve headers",
                ground.call("/redirect?to=" + other, headers: forwarded + withheld),
                .arrived(requests: 2, holds: lines, lacks: names)),
            HostileInput(
                group, "to another origin and back",
                ground.call(
                    "/redirect?to=" + ground.second.url("/redirect?to=" + ground.first.url("/echo")),
                    headers: forwarded + withheld),
                .arrived(requests: 3, holds: lines, lacks: names)),
            HostileInput(
                group, "to the same origin, which may have all headers",
                ground.call("/redirect?to=/echo", headers: forwarded + withheld),
                .arrived(requests: 2, holds: lines + sameOriginLines, lacks: [])),
            HostileInput(
                group, "to another origin, with user and password in the URL",
                HTTPCall(url: withUser, limits: AuditGround.limits, allowsPrivateNetwork: true),
                .arrived(requests: 2, holds: [], lacks: ["authorization:"])),
            HostileInput(
                group, "with user and password in Location",
                ground.call("/redirect?to=" + other.replacing("://", with: "://user:\(secret)@")),
                .arrived(requests: 2, holds: [], lacks: ["authorization:"])),
            HostileInput(
                group, "to another origin, setting cookies", jar, .arrived(requests: 2, holds: [], lacks: ["cookie:"])),
            HostileInput(
                group, "setting a cookie of another domain", ownJar,
                .arrived(requests: 2, holds: ["Cookie: own=1"], lacks: [])),
        ]
    }

    private static func bodies(_ ground: AuditGround) -> [HostileInput] {
        let body = RequestBody.bytes([UInt8](HostileInput.secret.utf8), contentType: "text/x-audit")
        let kept = [(HTTPMethod.post, 307), (.post, 308), (.put, 307), (.put, 301), (.patch, 302)].map {
            method, status in
            HostileInput(
                group, "the body of a \(method.rawValue) to another origin, by a \(status)",
                ground.call("/redirect?status=\(status)&to=" + ground.second.url("/echo"), method: method, body: body),
                .failed([.deniedRedirect], requests: 1))
        }
        let dropped = [301, 302, 303].map { status in
            HostileInput(
                group, "a POST to another origin by a \(status), which becomes a GET without its body",
                ground.call("/redirect?status=\(status)&to=" + ground.second.url("/echo"), method: .post, body: body),
                .arrived(
                    requests: 2, holds: ["GET /echo HTTP/1.1"],
                    lacks: ["content-type:", "content-length:", HostileInput.secret]))
        }
        return kept + dropped
    }

    private static func locations(_ ground: AuditGround) -> [HostileInput] {
        [
            HostileInput(
                group, "CR and LF in Location", ground.call("/location?to=" + percent("/echo\r\nX-Injected: 1")),
                .arrived(requests: 2, holds: ["GET /echo HTTP/1.1"], lacks: ["x-injected:"])),
            HostileInput(
                group, "CR and LF percent-encoded in Location",
                ground.call("/location?to=" + percent("/echo?a=%0d%0aX-Injected:%201")),
                .arrived(requests: 2, holds: ["GET /echo?a=%0d%0aX-Injected:%201 HTTP/1.1"], lacks: ["x-injected:"])),
            HostileInput(
                group, "a space and a second request in Location",
                ground.call("/location?to=" + percent("/echo?a HTTP/1.1 X-Injected: 1")),
                .arrived(requests: 2, holds: ["GET /echo?a+HTTP/1.1+X-Injected:+1 HTTP/1.1"], lacks: ["x-injected:"])),
        ]
    }

    /// Encodes each byte except letters and digits as `%XX`.
    private static func percent(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}

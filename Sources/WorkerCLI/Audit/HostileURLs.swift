// SPDX-License-Identifier: Apache-2.0

internal import HostileTarget
internal import JobModel

/// Invalid URLs, and URLs that programs read in different ways, for calls that may reach all addresses.
enum HostileURLs {
    private static let group = "urls"

    /// The inputs. Each must be refused as a URL before a look-up.
    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        let port = ground.first.port
        let here = "127.0.0.1:\(port)"
        let texts = [
            // Slashes and schemes.
            "", "/", "//\(here)/", "\(here)/", "http:", "http://", "http:\(here)/", "http:/\(here)/",
            "http:///\(here)/",
            "file:///etc/hostname", "file://localhost/etc/hostname", "ftp://\(here)/", "ftps://\(here)/",
            "gopher://\(here)/_GET%20/%20HTTP/1.0", "dict://\(here)/info", "ldap://\(here)/", "smb://\(here)/a",
            "telnet://\(here)/", "tftp://\(here)/a", "scp://\(here)/a", "sftp://\(here)/a", "imap://\(here)/",
            "pop3://\(here)/", "smtp://\(here)/", "rtsp://\(here)/", "mqtt://\(here)/a", "ws://\(here)/",
            "httpx://\(here)/",
            "jar:http://\(here)/!/", "javascript:alert(1)", "data:text/plain,a", "http+unix://%2ftmp%2fa/",
            // Hosts and ports.
            "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:70000/", "http://127.0.0.1:-1/",
            "http://127.0.0.1:80a/", "http://127.0.0.1:+80/", "http://127.0.0.1%00.example.com/",
            "http://127.0.0.1%0a:80/",
            "http://127.0.0.1%20/", "http://127.0.0.1%2f@example.com/\\", "http://[::1/",
            "http://[127.0.0.1]/",
            "http://[::ffff:127.0.0.1.1]/", "http://exa mple.com/", "http://<a>/",
            // User and password.
            "http://@\(here)/", "http://:@\(here)/", "http://u%0d%0aX:\(HostileInput.secret)@\(here)/",
            "http://u:\(HostileInput.secret)%00@\(here)/", "http://u%3Ax:\(HostileInput.secret)@\(here)/",
            "http://example.com\\@\(here)/", "http://\(here)\\@example.com/", "http://\(here)/\\..\\a",
            // Bytes that end a line or a word.
            " http://\(here)/", "http://\(here)/ ", "http://\(here)/a b", "http://\(here)/\t", "ht\ttp://\(here)/",
            "http://\(here)/\r\nX-Injected: 1", "http://\(here)/\nX-Injected: 1", "http://\(here)/\r",
            "http://\(here)/\0",
            "http://\(here)/\u{7f}", "http://\(here)/\u{1b}[2J", "http://127.0.0.1\n:\(port)/",
            "http://\(here)/ HTTP/1.1\r\nHost: example.com\r\n\r\nGET /",
        ]
        let refused = texts.map { text in
            HostileInput(
                group, text.isEmpty ? "an empty URL" : text.replacing(HostileInput.secret, with: "…"),
                HTTPCall(url: text, limits: AuditGround.limits, allowsPrivateNetwork: true), .refused([.badURL]))
        }
        return refused + long(ground) + harmless(ground)
    }

    private static func long(_ ground: AuditGround) -> [HostileInput] {
        let path = String(repeating: "a", count: 600_000)
        return [
            HostileInput(group, "a URL of 600,000 bytes", ground.call("/" + path), .refused([.badURL])),
            HostileInput(
                group, "a query of 600,000 bytes", ground.call("/echo", query: [FormField("a", path)]),
                .refused([.badURL])),
        ]
    }

    /// Inputs that may be sent, but must not change the request.
    private static func harmless(_ ground: AuditGround) -> [HostileInput] {
        let lines = "a\r\nX-Injected: 1\r\n\r\nGET /second HTTP/1.1"
        return [
            HostileInput(
                group, "CR and LF in the name and the value of an argument",
                ground.call("/echo", query: [FormField(lines, lines)]),
                .arrived(holds: [], lacks: ["x-injected", "get /second"])),
            HostileInput(
                group, "CR and LF percent-encoded in the path", ground.call("/echo?a=%0d%0aX-Injected:%201"),
                .arrived(holds: ["GET /echo?a=%0d%0aX-Injected:%201 HTTP/1.1"], lacks: ["x-injected"])),
            HostileInput(
                group, "& and # in an argument", ground.call("/echo?a=1", query: [FormField("b&c", "e&f#g")]),
                .arrived(holds: ["GET /echo?a=1&b%26c=e%26f%23g HTTP/1.1"], lacks: [])),
        ]
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import HostileTarget
internal import JobModel

/// All notations of addresses outside of the public internet, for calls that are limited to public addresses.
enum HostileAddresses {
    private static let group = "addresses"

    /// Hosts that lead to this machine. Its server would see the connection.
    private static let loopback = [
        "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0X7F.0.0.0x1",
        "0177.0.0.1", "0177.1", "017700000001", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "sub.localhost",
        "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]",
        "[::127.0.0.1]", "[::1%25]", "%31%32%37.0.0.1", "127.0.0.%31", "example.com@127.0.0.1", "127.0.0.1:80@[::1]",
        "user:\(HostileInput.secret)@127.0.0.1",
    ]

    /// Hosts that lead to this machine if libcurl maps characters beyond ASCII. Otherwise a name server is asked. In
    /// both cases the server here must see no connection.
    private static let mapped = [
        "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127.0.0.1.", "localhost.",
    ]

    /// Metadata services of clouds.
    private static let metadata = [
        "169.254.169.254", "169.254.170.2", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
        "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "[fe80::a9fe:a9fe]", "100.100.100.200", "192.0.0.192",
    ]

    /// One address of each range outside of the public internet.
    private static let reserved = [
        "10.0.0.1", "012.0.0.1", "100.64.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "0300.0250.0.1",
        "192.0.0.1",
        "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "[::ffff:10.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]", "[fc00::1]",
        "[fe80::1%25lo]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
    ]

    /// The inputs. Each must be refused, with any port and path.
    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        let port = ground.first.port
        let hosts =
            (loopback + metadata + reserved).map { ("http://\($0):\(port)/", [ErrorCode.deniedAddress]) }
            + mapped.map { ("http://\($0):\(port)/", [.deniedAddress, .dns, .connect, .connectTimeout]) }
        let forms = [
            "HTTP://127.0.0.1:\(port)/", "https://127.0.0.1:\(port)/", "http://127.0.0.1:0\(port)/",
            "http://127.0.0.1:\(port)", "http://127.0.0.1:\(port)?@example.com/",
            "http://127.0.0.1:\(port)#@example.com/",
            "http://127.0.0.1", "http://127.0.0.1:22/", "http://[::1]:5432/", "http://127.0.0.1:6379/",
        ].map { ($0, [ErrorCode.deniedAddress]) }
        return (hosts + forms).map { url, codes in
            HostileInput(
                group, url.replacing(HostileInput.secret, with: "…"), HTTPCall(url: url, limits: AuditGround.limits),
                .refused(codes))
        }
    }
}

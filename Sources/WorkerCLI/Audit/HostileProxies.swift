// SPDX-License-Identifier: Apache-2.0

internal import HostileTarget
internal import JobModel

/// Calls through a proxy, which resolves names itself. No host whose text shows a private address may be given to it.
enum HostileProxies {
    private static let group = "proxies"

    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        let proxy = Transport(proxy: ground.first.url(""))
        let other = "127.0.0.1:\(ground.second.port)"
        func call(_ url: String, _ transport: Transport) -> HTTPCall {
            HTTPCall(url: url, transport: transport, limits: AuditGround.limits)
        }
        let hosts = [
            "127.0.0.1", "127.0.0.1.", "2130706433", "0x7f.1", "0177.0.0.1", "0", "[::1]", "[::ffff:127.0.0.1]",
            "[64:ff9b::7f00:1]", "localhost", "LocalHost", "localhost.", "sub.localhost", "①②⑦.⓪.⓪.①", "127。0。0。1",
            "%31%32%37.0.0.1", "169.254.169.254", "10.0.0.1", "[fd00:ec2::254]", "example.com@10.0.0.1",
        ]
        let refused = hosts.map { host in
            HostileInput(
                group, "http://\(host)/ through a proxy", call("http://\(host)/ok", proxy), .refused([.deniedAddress]))
        }
        let targets = [
            "http://127.0.0.1/", "http://\(other)/ok", "//\(other)/ok", "http://2130706433/", "http://localhost/",
            "http://[::1]/", "http://169.254.169.254/latest/meta-data/", "file:///etc/hostname",
        ]
        let redirected = targets.map { target in
            HostileInput(
                group, "a redirect to \(target) behind a proxy",
                call("http://audit.example/redirect?to=\(target)", proxy), .failed([.deniedRedirect], requests: 1))
        }
        let addresses = [
            "127.0.0.1", "ftp://\(other)", "socks4://\(other)", "file:///etc/hostname",
            "http://\(other)\r\nX-Injected: 1",
            "http://u:\(HostileInput.secret)%0d%0a@\(other)", "http://127.0.0.1:0",
            "http://u:\(HostileInput.secret)@:1",
        ]
        let broken = addresses.map { address in
            HostileInput(
                group, "\(address.replacing(HostileInput.secret, with: "…")) as the proxy",
                call("http://audit.example/ok", Transport(proxy: address)), .refused([.config]))
        }
        return refused + redirected + broken + [
            HostileInput(
                group, "proxies that only the environment names", ground.call("/ok"),
                .answered(body: AuditGround.innocentBody, headers: nil))
        ]
    }
}

// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct TransportTests {
    private func call(_ url: String, _ transport: Transport?) -> HTTPCall {
        HTTPCall(url: url, transport: transport, limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
    }

    @Test func `a service's CA file is trusted only for its own calls`() throws {
        let nginx = try NginxServer(firstPort: 21_920)
        let driver = try AgentDriver()
        let url = "https://localhost:\(nginx.tlsPort)/text"
        #expect(try driver.run(call(url, Transport(caFile: nginx.caFile))).response().text == "hello")
        #expect(try driver.run(call(url, nil)).failure().code == .tlsVerify)
        let again = try driver.run(call(url, Transport(caFile: nginx.caFile)))
        #expect(try again.response().text == "hello")
        #expect(again.reused)
    }

    @Test func `a client certificate is sent only to the service's own origin`() throws {
        let nginx = try NginxServer(firstPort: 21_926)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let member = Transport(certificateFile: nginx.client.certificate, keyFile: nginx.client.key)
        let base = "https://localhost:\(nginx.tlsPort)"
        #expect(try driver.run(call(base + "/who", nil)).response().text == "127.0.0.1 ")
        #expect(try driver.run(call(base + "/who", member)).response().text == "127.0.0.1 CN=client")
        #expect(try driver.run(call(base + "/who", nil)).response().text == "127.0.0.1 ")
        #expect(try driver.run(call(base + "/away", member)).response().text == "127.0.0.1 ")
        #expect(try driver.run(call(base + "/who", member)).response().text == "127.0.0.1 CN=client")
    }

    @Test func `a call without the client certificate that a TLS 1.3 server wants fails as config`() throws {
        let nginx = try NginxServer(firstPort: 21_914)
        let server = try CertificateServer(as: nginx)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let missing = try driver.run(call(server.url, nil)).failure()
        #expect(missing.code == .config && missing.sent == .no, "\(missing)")
        #expect(missing.message.contains("requires a client certificate"))
        // A server that closes without an alert may do so before or after the first byte of the request.
        let asking = try HandshakeClosingServer(as: nginx, asks: true)
        let mute = try HandshakeClosingServer(as: nginx, asks: false)
        defer { withExtendedLifetime((server, asking, mute)) {} }
        let hasty = try driver.run(call(asking.url, nil)).failure()
        #expect(hasty.code == .config && hasty.sent == .no || hasty.code == .reset && hasty.sent == .maybe, "\(hasty)")
        #expect(hasty.message.contains("client certificate"), "\(hasty)")
        let other = try driver.run(call(mute.url, nil)).failure()
        #expect(other.code != .config && !other.message.contains("client certificate"), "\(other)")
        let member = Transport(certificateFile: nginx.client.certificate, keyFile: nginx.client.key)
        #expect(try driver.run(call(server.url, member)).response().status == 200)
    }

    @Test func `the error for a broken TLS 1.2 handshake mentions a missing client certificate`() throws {
        let nginx = try NginxServer(firstPort: 22_034)
        let server = try CertificateServer(as: nginx, tls: "tls1_2")
        let driver = try AgentDriver(caFile: nginx.caFile)
        let missing = try driver.run(call(server.url, nil)).failure()
        #expect(missing.code == .tls && missing.sent == .no, "\(missing)")
        #expect(missing.message.contains("if it requires a client certificate, name one"), "\(missing)")
        let member = Transport(certificateFile: nginx.client.certificate, keyFile: nginx.client.key)
        #expect(try driver.run(call(server.url, member)).response().status == 200)
    }

    @Test func `each TLS connection does a full handshake and never resumes a session`() throws {
        let nginx = try NginxServer(firstPort: 21_986)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let member = Transport(certificateFile: nginx.client.certificate, keyFile: nginx.client.key)
        for transport in [nil, Transport(caFile: nginx.caFile), member] {
            for shares in [true, false] {
                var session = call("https://localhost:\(nginx.tlsPort)/session", transport)
                session.mayShareConnection = shares
                for _ in 1...3 { #expect(try driver.run(session).response().text == ".") }
            }
        }
    }

    @Test func `a wrong pin fails a call despite an open connection to the server`() throws {
        let nginx = try NginxServer(firstPort: 21_932)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let url = "https://localhost:\(nginx.tlsPort)/text"
        let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
        #expect(try driver.run(call(url, Transport(pins: [nginx.pin]))).response().text == "hello")
        let failure = try driver.run(call(url, Transport(pins: [wrong]))).failure()
        #expect(failure.code == .tlsVerify && failure.sent == .no && failure.message.contains("pins"))
        #expect(try driver.run(call(url, Transport(pins: [wrong, nginx.pin]))).response().text == "hello")
        // Base64 is case-sensitive. A comparison that ignores case would accept this pin.
        let upper = Transport(pins: ["sha256//" + nginx.pin.dropFirst(8).uppercased()])
        #expect(try driver.run(call(url, upper)).failure().code == .tlsVerify)
    }

    @Test func `unusable TLS files and pins fail as config with a message that names them`() throws {
        let nginx = try NginxServer(firstPort: 21_938)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let client = nginx.client
        let cases = [
            (Transport(caFile: "/no/such/ca.pem"), "/no/such/ca.pem"),
            (Transport(caFile: client.key), client.key),
            (Transport(certificateFile: "/no/such.pem"), "/no/such.pem"),
            (Transport(certificateFile: client.certificate, keyFile: client.lockedKey), client.lockedKey),
            (Transport(certificateFile: client.certificate, keyFile: nginx.otherKey), nginx.otherKey),
            (Transport(keyFile: client.key), "certificate"), (Transport(caFile: "ca.pem"), "absolute"),
            (Transport(pins: ["/etc/passwd"]), "pin"), (Transport(pins: [nginx.pin + ";" + nginx.pin]), "pin"),
        ]
        for (transport, word) in cases {
            let failure = try driver.run(call("https://localhost:\(nginx.tlsPort)/text", transport)).failure()
            #expect(failure.code == .config && failure.sent == .no && failure.message.contains(word), "\(failure)")
        }
    }

    @Test func `a call leaves through its configured interface, and an invalid interface fails as config`() throws {
        let nginx = try NginxServer(firstPort: 21_944)
        let driver = try AgentDriver()
        let url = "http://127.0.0.1:\(nginx.port)/who"
        #expect(try driver.run(call(url, Transport(interface: "127.0.0.2"))).response().text == "127.0.0.2")
        #expect(try driver.run(call(url, nil)).response().text == "127.0.0.1")
        #expect(try driver.run(call(url, Transport(interface: "lo"))).response().text == "127.0.0.1")
        for name in ["no-such0", "localhost", "192.0.2.7", "a b", "eth0\r\nx"] {
            let failure = try driver.run(call(url, Transport(interface: name))).failure()
            #expect(failure.code == .config && failure.sent == .no, "\(name): \(failure)")
        }
    }

    @Test func `with 148 transports all calls work, and the oldest transport loses its connection`() throws {
        let driver = try AgentDriver()
        for number in 2..<150 {
            let transport = Transport(interface: "127.0.0.\(number)")
            #expect(try driver.run(call(Hostile.server.url("/ok"), transport)).response().text == "ok")
        }
        let first = try driver.run(call(Hostile.server.url("/ok"), Transport(interface: "127.0.0.2")))
        #expect(try first.response().text == "ok" && !first.reused)
        let last = try driver.run(call(Hostile.server.url("/ok"), Transport(interface: "127.0.0.149")))
        #expect(last.reused)
    }

    @Test(.enabled(if: sysconf(Int32(_SC_OPEN_MAX)) >= 8_192, "needs 2,100 descriptors beside those of other tests"))
    func `a call beyond 513 transports in flight is refused with a retryable local failure`() throws {
        let agent = try HTTPAgent(slots: 520)
        for slot in 0..<520 {
            let transport = Transport(interface: "127.1.\(slot / 200).\(slot % 200 + 1)")
            agent.start(call("http://127.0.0.1:1/", transport), slot: slot)
        }
        let refused = agent.takeFinished()
        #expect(refused.count == 520 - 513)
        for call in refused {
            let failure = try call.outcome.failure()
            #expect(failure.code == .internal && failure.isRetryable && failure.isLocal && failure.sent == .no)
        }
    }

    @Test func `a public-only call with its own transport is denied a private address`() throws {
        let driver = try AgentDriver()
        let url = try Hostile.server.url("/ok")
        let transport = Transport(interface: "127.0.0.3")
        #expect(try driver.run(call(url, transport)).response().text == "ok")
        #expect(try driver.run(HTTPCall(url: url, transport: transport)).failure().code == .deniedAddress)
    }
}

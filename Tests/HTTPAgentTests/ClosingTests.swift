// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// The end of a TLS connection ends an answer only if the server announces it. Otherwise an attacker may have caused
/// it.
@Suite(.serialized)
struct ClosingTests {
    private func call(_ url: String, _ method: HTTPMethod = .get, transport: Transport? = nil) -> HTTPCall {
        HTTPCall(
            method: method, url: url, transport: transport, limits: CallLimits(total: .seconds(20)),
            allowsPrivateNetwork: true)
    }

    @Test(arguments: ["tls1_2", "tls1_3"])
    func `an answer that ends with its TLS connection is complete only after close_notify`(tls: String) throws {
        let nginx = try NginxServer(firstPort: tls == "tls1_2" ? 22_010 : 22_016)
        let server = try ClosingServer(as: nginx, tls: tls)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let proxy = try ProxyServer(.http)
        for transport in [nil, Transport(proxy: proxy.url(), caFile: nginx.caFile)] {
            for (name, length) in [("unsized", 50_000), ("old", 50_000), ("nothing", 0)] {
                let whole = try driver.run(call("\(server.url)/announced/\(name)", transport: transport))
                #expect(try whole.response().body.count == length, "\(name)")
                let failure = try driver.run(call("\(server.url)/bare/\(name)", transport: transport)).failure()
                #expect(failure.code == .truncated && failure.status == 200 && failure.sent == .maybe, "\(failure)")
                #expect(failure.message.contains("close_notify"), "\(failure)")
            }
        }
        for end in ["announced", "bare"] {
            let failure = try driver.run(call("\(server.url)/\(end)/cut")).failure()
            #expect(failure.code == .truncated && failure.message.contains("inside its headers"), "\(failure)")
        }
    }

    @Test func `an answer that marks its own end is complete without close_notify`() throws {
        let nginx = try NginxServer(firstPort: 22_022)
        let server = try ClosingServer(as: nginx, tls: "tls1_3")
        let driver = try AgentDriver(caFile: nginx.caFile)
        for (name, status, length) in [
            ("sized", 200, 50_000), ("chunks", 200, 50_000), ("bodiless", 204, 0), ("unchanged", 304, 0),
            // Answers whose body is not needed.
            ("redirect", 200, 50_000), ("refusal", 429, 0),
        ] {
            let response = try driver.run(call("\(server.url)/bare/\(name)")).response()
            #expect(response.status == status && response.body.count == length, "\(name)")
        }
        #expect(try driver.run(call("\(server.url)/bare/head", .head)).response().status == 200)
    }

    @Test func `a download without close_notify does not replace the existing file`() throws {
        let nginx = try NginxServer(firstPort: 22_028)
        let server = try ClosingServer(as: nginx, tls: "tls1_3")
        let folder = try TestFolder()
        let driver = try AgentDriver(caFile: nginx.caFile, filesRoot: folder.path)
        try folder.write("file", "good")
        func run(_ path: String) throws -> CallOutcome {
            var download = call(server.url + path)
            download.download = Download(path: "file")
            return try driver.run(download)
        }
        for name in ["unsized", "nothing", "cut"] {
            #expect(try run("/bare/\(name)").failure().code == .truncated)
            #expect(folder.read("file") == [UInt8]("good".utf8))
        }
        #expect(try run("/announced/unsized").download?.isComplete == true)
        #expect(folder.size("file") == 50_000)
    }
}

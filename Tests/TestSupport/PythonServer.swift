// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A server on a free loopback port whose program is a text in Python, with the packages of the tests; ends with the
/// object.
final class PythonServer: Sendable {
    /// Where it listens.
    let port: UInt16
    private let process: Int32

    /// Starts it and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - words: what `sys.argv` holds behind the port.
    ///   - output: where its standard output goes; -1: nowhere.
    init(_ program: String, _ words: [String] = [], output: Int32 = -1) throws {
        let port = try TargetServer.freePort()
        self.port = port
        process = try ChildProcess.spawn(
            [ProjectFolder.python(), "-c", program, String(port)] + words, output: output)
        try TestClock.wait(20, for: "the server on port \(port)") { TargetServer.isTaken(port) }
    }

    /// One with the certificate of an nginx, that of `localhost`. Its program is the class `Handler` of Python's
    /// `socketserver`, which wraps each connection in `context`; `sys.argv` holds the words from its fourth on.
    convenience init(tls handler: String, as nginx: NginxServer, _ words: [String] = []) throws {
        let program = [Self.beginning, handler, Self.end].joined(separator: "\n")
        try self.init(program, [nginx.certificate, nginx.otherKey] + words)
    }

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
    }

    private static let beginning = """
        import socket, socketserver, ssl, struct, sys, time

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        """
    private static let end = """

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """
}

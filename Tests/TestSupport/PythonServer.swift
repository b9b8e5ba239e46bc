// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A server whose program is a Python text, on a free loopback port. It can use the packages of the tests.
///
/// It ends with the object.
final class PythonServer: Sendable {
    /// The port on which the server listens.
    let port: UInt16
    private let process: Int32

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - words: `sys.argv` holds them after the port.
    ///   - output: the descriptor of its standard output; -1 discards the output.
    init(_ program: String, _ words: [String] = [], output: Int32 = -1) throws {
        let port = try TargetServer.freePort()
        self.port = port
        process = try ChildProcess.spawn(
            [ProjectFolder.python(), "-c", program, String(port)] + words, output: output)
        try TestClock.wait(20, for: "the server on port \(port)") { TargetServer.isTaken(port) }
    }

    /// Starts a TLS server with the certificate of an nginx for `localhost`.
    ///
    /// Its program is the class `Handler` of Python's `socketserver`, which wraps each connection in `context`.
    /// `sys.argv` holds the words from index 4 on.
    convenience init(tls handler: String, as nginx: NginxServer, _ words: [String] = []) throws {
        let program = [Self.beginning, handler, Self.end].joined(separator: "\n")
        try self.init(program, [nginx.certificate, nginx.otherKey] + words)
    }

    deinit { ChildProcess.terminate(process) }

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

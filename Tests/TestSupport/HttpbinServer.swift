// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The httpbin that the project's setup installs, on a loopback port. It ends with the object.
public final class HttpbinServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let process: Int32

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        let port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        process = try ChildProcess.spawn(
            [
                try ProjectFolder.python(), "-m", "gunicorn", "--bind",
                "127.0.0.1:\(port)",
                "--worker-class", "gevent", "--worker-connections", "2000", "--log-level", "error", "httpbin:app",
            ], output: -1)
        try TestClock.wait(20, for: "httpbin on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit { ChildProcess.terminate(process) }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// httpbin, as the project's setup installs it, on a loopback port; ends with the object.
public final class HttpbinServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let process: Int32

    /// Starts it and waits until it takes connections.
    public init() throws {
        let port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        process = try ChildProcess.spawn(
            [
                try Self.projectFolder() + "/.postrider/venv/bin/python", "-m", "gunicorn", "--bind",
                "127.0.0.1:\(port)",
                "--worker-class", "gevent", "--worker-connections", "2000", "--log-level", "error", "httpbin:app",
            ], output: -1)
        try TestClock.wait(20, for: "httpbin on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
    }

    /// The first folder above the built program that holds the package.
    static func projectFolder() throws -> String {
        var parts = WorkerProcess.path.split(separator: "/")
        while !parts.isEmpty {
            parts.removeLast()
            let folder = parts.map { "/" + $0 }.joined()
            if unsafe access(folder + "/Package.swift", F_OK) == 0 { return folder }
        }
        throw TestClock.Timeout(description: "no Package.swift above \(WorkerProcess.path)")
    }
}

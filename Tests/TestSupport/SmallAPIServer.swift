// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The small API of `Tests/SmallAPI/api.py` on a loopback port, with an empty database.
///
/// It ends with the object.
public final class SmallAPIServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let process: Int32
    /// Ends the server when the test process ends or crashes. A server that tests share never reaches `deinit`.
    private let guardian: Pipe
    private let guardianPID: Int32

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        let port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        let folder = try ProjectFolder.path()
        process = try ChildProcess.spawn(
            [
                ProjectFolder.python(), "-B", "-m", "gunicorn", "--bind", "127.0.0.1:\(port)",
                "--worker-class", "gevent", "--worker-connections", "2000", "--log-level", "error",
                "--chdir", folder + "/Tests/SmallAPI", "api:app",
            ], output: -1)
        guardian = try Pipe()
        guardianPID = try ChildProcess.spawn(
            ["/bin/sh", "-c", "read -r word || kill -TERM $0", "\(process)"], input: guardian.readEnd, output: -1)
        guardian.closeReadEnd()
        try TestClock.wait(20, for: "the small API on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        kill(guardianPID, SIGKILL)
        _ = ChildProcess.wait(for: guardianPID)
        ChildProcess.terminate(process)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The oidc-provider-mock that the project's setup installs, on a loopback port. It ends with the object.
public final class OIDCProvider: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let process: Int32

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        let port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        process = try ChildProcess.spawn(
            [
                try ProjectFolder.python(), "-W", "ignore", "-m",
                "oidc_provider_mock", "--port", "\(port)",
            ], output: -1)
        try TestClock.wait(30, for: "the OpenID provider on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        kill(process, SIGKILL)
        _ = ChildProcess.wait(for: process)
    }

    /// Logs the user ada in and returns a refresh token for the client app.
    public func logIn() throws -> String {
        let folder = try ProjectFolder.path()
        let (status, output) = try ChildProcess.run(
            [ProjectFolder.python(), "-B", folder + "/Tests/TokenAPI/login.py", url])
        guard status == 0 else { throw TestFault(description: output) }
        return String(output.prefix { !$0.isNewline })
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The API of `Tests/TokenAPI/api.py` on a loopback port, and a key for the test's workers. Its tokens expire.
public final class TokenAPI: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    /// The API's folder. It also holds `key`, a file for `--secret-key-file`.
    public let folder: TestFolder
    private let process: Int32

    /// Starts the API and waits until it accepts connections.
    ///
    /// - Parameter settings: the first `config.json`, in JSON. `api.py` describes its keys.
    public init(_ settings: String = "{}") throws {
        let port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        folder = try TestFolder()
        try folder.write("config.json", settings)
        try folder.write("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
        let project = try ProjectFolder.path()
        process = try ChildProcess.spawn(
            [
                "/usr/bin/env", "TOKEN_API_FOLDER=\(folder.path)", ProjectFolder.python(), "-B", "-m",
                "gunicorn", "--bind", "127.0.0.1:\(port)", "--worker-class", "gevent", "--worker-connections", "2000",
                "--log-level", "error", "--chdir", project + "/Tests/TokenAPI", "api:app",
            ], output: -1)
        try TestClock.wait(20, for: "the token API on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        // SIGQUIT ends gunicorn at once. SIGTERM would wait for a request that hangs.
        kill(process, SIGQUIT)
        _ = ChildProcess.wait(for: process)
    }

    /// Changes the API's behaviour from the next request on.
    public func set(_ settings: String) throws { try folder.write("config.json", settings) }

    /// All requests so far: method, path, token and status, as in `GET /api/x a1 401`.
    public var log: [String] {
        String(decoding: folder.read("log") ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The requests whose lines contain this text.
    public func log(_ text: String) -> [String] { log.filter { $0.contains(text) } }

    /// Starts a worker with the test's key.
    public func worker(_ queue: borrowing TestQueue, concurrency: Int = 8, _ words: [String] = []) throws
        -> RunningWorker
    {
        try RunningWorker(
            queue.database, concurrency: concurrency, ["--secret-key-file", folder.path("key")] + words)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A worker that serves its pages on a loopback port, and a reader of these pages.
public struct WatchedWorker: Sendable {
    /// The worker.
    public let worker: RunningWorker
    /// The reader of the worker's pages.
    public let pages: PageReader
    /// `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(pages.port)" }

    /// Starts the worker and waits until it listens.
    public init(_ database: String, _ words: [String] = []) throws {
        let port = try TargetServer.freePort()
        worker = try RunningWorker(database, ["--http", "127.0.0.1:\(port)"] + words)
        pages = PageReader(port: port)
        try worker.wait(for: "http_listening")
    }

    /// Ends the worker at once, see `RunningWorker.kill`.
    public func kill() { worker.kill() }

    /// The status of a page.
    public func status(_ path: String) throws -> Int { try pages.read(path).status }

    /// Waits until a page has a status.
    public func wait(_ seconds: Double = 20, until path: String, hasStatus status: Int) throws {
        try TestClock.wait(seconds, for: "\(path) to be \(status)") { try self.status(path) == status }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// The collector of `Tests/TraceCollector/collector.py` on a loopback port. It ends with the object.
public final class TraceCollector: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let port: UInt16
    private let process: Int32

    /// Starts the collector and waits until it accepts connections.
    public init() throws {
        port = try TargetServer.freePort()
        url = "http://127.0.0.1:\(port)"
        process = try ChildProcess.spawn(
            [
                ProjectFolder.python(), "-B", ProjectFolder.path() + "/Tests/TraceCollector/collector.py", "\(port)",
            ], output: -1)
        let port = port
        try TestClock.wait(20, for: "the collector on port \(port)") { TargetServer.isTaken(port) }
    }

    /// The spans so far: a JSON array.
    public var spans: String {
        get throws { try PageReader(port: port).read("/spans").lines.joined(separator: "\n") }
    }

    /// The headers of the requests so far: a JSON array of objects.
    public var requests: String {
        get throws { try PageReader(port: port).read("/requests").lines.joined(separator: "\n") }
    }

    /// Sets the status of all later answers.
    public func answer(_ status: Int) throws {
        _ = try PageReader(port: port).read("/answer/\(status)", method: "POST")
    }

    deinit { ChildProcess.terminate(process) }
}

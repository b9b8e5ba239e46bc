// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// Opens the connections of a session one after the other, over the hosts of its connection string.
struct PGDialer: ~Copyable {
    private let configured: PGConnectionString
    /// The string of the current attempt.
    private var string: PGConnectionString
    /// By how many hosts the list was rotated.
    private var hostShift = 0
    private var link: PGLink?
    /// Whether the attempt goes on when the socket can be written. Otherwise it must be readable.
    private(set) var awaitsWrite = true
    /// Changes with each new socket.
    private var generation: UInt64 = 0
    /// The number of attempts to connect.
    private(set) var attempts = 0

    /// A dialer without a connection.
    init(_ string: PGConnectionString) {
        configured = string
        self.string = string
    }

    /// The connection for libpq's functions.
    var raw: OpaquePointer? {
        switch link {
        case .some(let link): unsafe link.raw
        case .none: nil
        }
    }

    /// The servers of the current attempt, without secrets.
    var summary: String { string.summary }

    /// Whether bytes, or the end of the connection, can be read.
    var hasInput: Bool {
        switch link {
        case .some(let link): link.hasInput
        case .none: false
        }
    }

    /// The socket to poll; nil without a connection.
    ///
    /// - Parameters:
    ///   - isConnecting: whether an attempt is under way.
    ///   - hasOutput: whether bytes wait until the socket can be written.
    func interest(isConnecting: Bool, hasOutput: Bool) -> PGSessionInterest? {
        guard let raw = unsafe raw, case let descriptor = unsafe PQsocket(raw), descriptor >= 0 else { return nil }
        return PGSessionInterest(
            descriptor: descriptor, read: !isConnecting || !awaitsWrite, write: isConnecting ? awaitsWrite : hasOutput,
            generation: generation)
    }

    /// Begins an attempt.
    mutating func connect() throws(PGError) {
        attempts += 1
        generation += 1
        awaitsWrite = true
        string = configured.rotated(by: hostShift)
        link = try PGLink.start(string)
    }

    /// Performs one step of the attempt. Nil without one.
    mutating func advance() -> PGLink.Progress? {
        let progress: PGLink.Progress
        switch link {
        case .some(let link): progress = link.step(string)
        case .none: return nil
        }
        switch progress {
        case .reading, .writing:
            if case .writing = progress { awaitsWrite = true } else { awaitsWrite = false }
            generation += 1
        case .connected: generation += 1
        case .failed: break
        }
        return progress
    }

    /// Moves a silent host to the end of the list, where it stays. The host that answered instead stays in front. So a
    /// lost session is back at once, without waiting for the time limit of the silent host.
    mutating func skipSilentHost() {
        if let place = link?.place { hostShift += string.steps(behind: place) }
    }

    /// Closes the connection.
    mutating func disconnect() { link = nil }
}

// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import PGClient
internal import Reactor

/// A database session of the worker: its connection, its name in the log and its socket in the poller.
final class Session {
    /// The sessions, in the order in which a turn serves them. The raw value is the place in a list of all sessions.
    enum Kind: Int, CaseIterable {
        case jobs, duties, callbacks, judging, pruning
    }

    private let kind: Kind
    private let settings: PGSession.Configuration
    private let agent: HTTPAgent
    private let log: @Sendable (EngineEvent) -> Void
    private var connection: PGSession
    /// The socket that the poller knows.
    private var watched: PGSessionInterest?

    /// A session that is not started.
    init(
        _ kind: Kind, _ settings: PGSession.Configuration, agent: HTTPAgent,
        log: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.kind = kind
        self.settings = settings
        self.agent = agent
        self.log = log
        connection = PGSession(settings)
    }

    /// Whether the session was opened. It may be connecting still.
    var isOpen: Bool { connection.state != .stopped }

    /// Whether statements can be sent.
    var isReady: Bool { connection.isReady }

    /// The process id of the server, 0 without a connection.
    var processID: Int32 { connection.processID }

    /// The socket to poll; nil without a connection.
    var interest: PGSessionInterest? { connection.interest }

    /// When `process` and `next` are due although the socket is not ready; nil if never.
    var deadline: UInt64? { connection.nextDeadline }

    /// Since when the server has been silent while it owes an answer. Nil if it owes none.
    var silentSince: UInt64? { connection.silentSince }

    /// Opens the session.
    func start(now: UInt64) { connection.start(now: now) }

    /// Closes the session. It may be opened again.
    func close() {
        connection.close()
        connection = PGSession(settings)
    }

    /// Closes the connection and makes a new one after the usual wait.
    func abandon(_ reason: String, now: UInt64) { connection.abandon(reason, now: now) }

    /// Closes the connection like `abandon`. The next connection ends the silent backend.
    func giveUp(_ reason: String, now: UInt64) { connection.giveUp(reason, now: now) }

    /// Sends one statement in its own transaction.
    func send(_ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64) throws(PGError) {
        try connection.send(statement, &parameters, tag: tag)
    }

    /// Adds a statement to the open transaction, or opens one. `commit` ends it.
    func append(_ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64) throws(PGError) {
        try connection.append(statement, &parameters, tag: tag)
    }

    /// Ends the open transaction and sends it.
    func commit() { connection.commit() }

    /// Reads and writes as far as the socket allows, and performs due actions.
    func process(now: UInt64) { connection.process(readable: false, writable: false, now: now) }

    /// The next event, nil if all events that have arrived were returned.
    ///
    /// It logs a connection that was made or lost. The pruning session is open during a round only, and its
    /// connections are not logged.
    func next() -> PGSessionEvent? {
        guard let event = connection.next() else { return nil }
        switch event {
        case .ready:
            if kind != .pruning { log(.connected(session: "\(kind)")) }
        case .lost(let error, _):
            if kind != .pruning { log(.connectionLost(session: "\(kind)", reason: error.description)) }
            agent.closeIdleConnectionsIfShort()
        default: break
        }
        return event
    }

    /// Registers the socket with the poller, if its interest has changed.
    func watch(in poller: inout Poller) throws(ReactorError) {
        let wanted = connection.interest
        guard wanted != watched else { return }
        if let wanted {
            let token = PollerToken.of(kind, generation: wanted.generation)
            try poller.set(wanted.descriptor, token: token, read: wanted.read, write: wanted.write)
        }
        watched = wanted
    }

    /// Handles a socket that is ready. An event about an earlier socket is dropped.
    func socketReady(_ event: PollerEvent, now: UInt64) {
        guard let watched, event.token == PollerToken.of(kind, generation: watched.generation) else { return }
        connection.process(readable: event.readable, writable: event.writable, now: now)
    }
}

extension [Session] {
    /// The session of a kind in a list of all sessions.
    subscript(kind: Session.Kind) -> Session { self[kind.rawValue] }
}

/// Poller tokens. The top 3 bits are the kind: 0 for sockets of the agent, 1 for signals, the others for sessions. The
/// other bits are the generation of a session's socket, or the descriptor of an agent's socket.
enum PollerToken {
    private static let shift: UInt64 = 61
    private static let firstSession: UInt64 = 2

    static let signals: UInt64 = 1 << shift

    /// The token of a session's socket.
    static func of(_ kind: Session.Kind, generation: UInt64) -> UInt64 {
        (firstSession + UInt64(kind.rawValue)) << shift | generation
    }

    /// The place of the session that the token belongs to. Nil if it belongs to none.
    static func session(of token: UInt64) -> Int? {
        let kind = token >> shift
        return kind < firstSession ? nil : Int(kind - firstSession)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// A connection for an event loop. It sends statements without waiting for earlier answers, and reconnects.
///
/// ```
/// owner                         session                          server
///   start(now) ───────────────►  connect, set up  ─────────────►
///   poll interest, nextDeadline
///   process(readable…, now) ──►  read, write, decide
///   next() until nil ◄────────   ready │ result │ failed │ notification │ lost │ retryAt
///   send(…, tag) ─────────────►  Parse? Bind Execute Sync ─────►
/// ```
/// It never blocks, except to look up host names. The owner polls `interest`, calls `process` when the socket is ready
/// or `nextDeadline` has come, and then calls `next()` until it is nil. `PGSessionMachine` makes the decisions.
/// Each accepted tag is reported exactly once, as `result`, `failed` or `lost`. A result is returned only after its
/// transaction has committed. Use a session on one thread only.
@safe public struct PGSession: ~Copyable {
    /// The settings of a session.
    public struct Configuration: Sendable {
        /// The connection options.
        public var string: PGConnectionString
        /// Statements that run in order on each new connection, before `ready`, in one transaction: `set …`, `listen
        /// …`.
        public var setUp: [String]
        /// Whether statements are prepared once per connection. False for PgBouncer in transaction mode.
        public var prepares: Bool
        /// Statements at the beginning of each group, in its transaction, without an event for the owner. They are for
        /// PgBouncer in transaction mode, where a setting of `setUp` would apply to another client in the next
        /// transaction. If one fails, the first statement of the group fails with its error.
        public var openings: [String]
        /// The time limits.
        public var policy: PGSessionMachine.Policy
        /// The longest silence of the server while it owes an answer. Then the connection is closed. Nil: no limit.
        ///
        /// It must exceed the `statement_timeout`, which a hanging server, or a proxy that has lost the server, does
        /// not keep.
        public var answerTimeout: UInt64?
        /// The SQL that ends the server process with this id. It runs before `setUp` on the connection that replaces a
        /// silent one. The old process may still hold locks and one of the server's connections. Nil: no statement.
        public var terminationSQL: (@Sendable (Int32) -> String)?

        /// Settings of a session that prepares statements. The string's `connect_timeout` limits an attempt.
        public init(string: PGConnectionString, setUp: [String] = [], prepares: Bool = true, openings: [String] = []) {
            self.string = string
            self.setUp = setUp
            self.prepares = prepares
            self.openings = openings
            policy = PGSessionMachine.Policy()
            policy.connectTimeout = UInt64(string.connectTimeoutSeconds) * 1_000_000_000
        }
    }

    /// An event about the connection that `next` has not returned yet.
    private enum Notice {
        case ready
        case lost(PGError, [UInt64])
        case retryAt(UInt64)
    }

    private let configuration: Configuration
    private var machine: PGSessionMachine
    private var dialer: PGDialer
    var stream: PGStatementStream
    private var notices: [Notice] = []
    private var now: UInt64 = 0
    /// When bytes were last sent or received, or when the first statement after an idle time was sent.
    private var heardAt: UInt64 = 0
    /// The server process of a connection that was closed for its silence, until another connection can end it.
    private var silentProcess: Int32?
    private var random = SystemRandomNumberGenerator()

    /// A session that is not started.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        machine = PGSessionMachine(policy: configuration.policy)
        dialer = PGDialer(configuration.string)
        stream = PGStatementStream(prepares: configuration.prepares, openings: configuration.openings)
    }

    /// The state of the connection.
    public var state: PGSessionMachine.State { machine.state }

    /// Whether statements can be sent.
    public var isReady: Bool {
        if case .ready = machine.state { !stream.isDying } else { false }
    }

    /// The number of attempts to connect.
    public var attempts: Int { dialer.attempts }

    /// The process id of the server, 0 without a connection. C: `PQbackendPID`.
    public var processID: Int32 {
        guard let raw = unsafe dialer.raw else { return 0 }
        return unsafe PQbackendPID(raw)
    }

    /// The socket to poll; nil without a connection. Read it again after each call of `process`, `next` and `send`.
    public var interest: PGSessionInterest? {
        var isConnecting = false
        if case .connecting = machine.state { isConnecting = true }
        return dialer.interest(isConnecting: isConnecting, hasOutput: stream.hasOutput)
    }

    /// When `process` and `next` are due although the socket is not ready; nil if never. 0: an event waits.
    public var nextDeadline: UInt64? { !stream.isDying && notices.isEmpty ? machine.deadline ?? answerDue : 0 }

    /// Since when the server has been silent while it owes an answer. Nil if it owes none.
    public var silentSince: UInt64? { isReady && !stream.isEmpty ? heardAt : nil }

    /// When the server's silence exceeds the limit.
    private var answerDue: UInt64? {
        guard let limit = configuration.answerTimeout, let silentSince else { return nil }
        return silentSince + limit * UInt64(max(1, stream.pipeline.statementsOfGroup))
    }

    /// Begins to connect. Later calls have no effect.
    public mutating func start(now: UInt64) {
        self.now = now
        perform(machine.start(now: now))
    }

    /// Reads and writes as far as the socket allows, and performs due actions. Then call `next()` until it is nil.
    ///
    /// It also sets the time: statements that are sent before the next call count as sent at `now`.
    public mutating func process(readable: Bool, writable: Bool, now: UInt64) {
        self.now = now
        if readable || writable { heardAt = now }
        switch machine.state {
        case .connecting:
            if dialer.awaitsWrite ? writable : readable { advance() }
        case .settingUp, .ready:
            guard let raw = unsafe dialer.raw else { break }
            if readable { unsafe stream.consume(raw) }
            if writable && stream.hasOutput { unsafe stream.flush(raw) }
        case .stopped, .backingOff, .closed:
            break
        }
        if let deadline = machine.deadline, now >= deadline {
            perform(machine.deadlineReached(now: now, random: random.next()))
        }
        // After a suspension of this process the answer may be in the socket, unread.
        if let due = answerDue, now >= due, !dialer.hasInput {
            giveUp("no answer from the server for \((now - heardAt) / 1_000_000_000) s", now: now)
        }
    }

    /// Closes the connection and makes a new one after the usual wait, because the server does not answer.
    public mutating func abandon(_ reason: String, now: UInt64) {
        self.now = now
        end(PGError(.lost, operation: "abandon", reason))
    }

    /// Closes the connection like `abandon`, because the server is silent; see `Configuration.terminationSQL`.
    public mutating func giveUp(_ reason: String, now: UInt64) {
        silentProcess = processID
        abandon(reason, now: now)
    }

    /// Closes the session permanently. Unanswered tags are not reported.
    public mutating func close() {
        perform(machine.close())
    }

    /// Ends the connection for a reason. The owner gets the machine's decision about the next one.
    private mutating func end(_ error: PGError) {
        perform(machine.failed(now: now, random: random.next()), error)
    }

    /// Carries out the machine's decisions. No other code does.
    private mutating func perform(_ action: PGSessionMachine.Action, _ error: PGError? = nil) {
        switch action {
        case .none:
            break
        case .connect:
            connect()
        case .setUp:
            setUp()
        case .announceReady:
            notices.append(.ready)
        case .drop(let retryAt):
            let unanswered = disconnect()
            notices.append(.lost(error ?? PGError(.lost, operation: "", "connection lost"), unanswered))
            notices.append(.retryAt(retryAt))
        case .timeOut(let retryAt):
            dialer.skipSilentHost()
            let seconds = configuration.policy.connectTimeout / 1_000_000_000
            let text = "no answer within \(seconds) s from \(dialer.summary)"
            notices.append(.lost(PGError(.timeout, operation: "PQconnectPoll", text), disconnect()))
            notices.append(.retryAt(retryAt))
        case .close:
            _ = disconnect()
            stream.removeAnswers()
            notices.removeAll()
        }
    }

    private mutating func connect() {
        do throws(PGError) {
            try dialer.connect()
        } catch {
            end(error)
        }
    }

    private mutating func advance() {
        switch dialer.advance() {
        case .reading, .writing, nil: break
        case .connected: perform(machine.connected())
        case .failed(let error): end(error)
        }
    }

    private mutating func setUp() {
        guard let raw = unsafe dialer.raw else { return }
        guard unsafe PQsetnonblocking(raw, 1) == 0, unsafe PQenterPipelineMode(raw) == 1 else {
            return unsafe stream.fail("PQenterPipelineMode", raw)
        }
        var statements = configuration.setUp
        if let silentProcess, let sql = configuration.terminationSQL?(silentProcess) { statements.insert(sql, at: 0) }
        silentProcess = nil
        unsafe stream.setUp(statements, raw)
    }

    private mutating func disconnect() -> [UInt64] {
        dialer.disconnect()
        return stream.reset()
    }

    /// Sends one statement in its own transaction. The answer has the tag.
    ///
    /// - Throws: `.notReady`. Then the statement was not sent, and the tag gets no answer.
    public mutating func send(
        _ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64
    ) throws(PGError) {
        try append(statement, &parameters, tag: tag)
        commit()
    }

    /// Adds a statement to the open group, or opens one. A group is one transaction, which `commit` ends.
    ///
    /// Call `commit` before returning to the loop. Before that, statements may not be sent yet.
    ///
    /// - Throws: `.notReady`. Then the statement was not sent, and the tag gets no answer.
    public mutating func append(
        _ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64
    ) throws(PGError) {
        guard isReady, let raw = unsafe dialer.raw else {
            throw PGError(.notReady, operation: "PGSession.append", "there is no connection to the database")
        }
        if stream.isEmpty { heardAt = now }
        try unsafe stream.append(statement, &parameters, tag: tag, raw)
    }

    /// Ends the open group and sends it. Without an open group it does nothing. C: `PQpipelineSync`.
    public mutating func commit() {
        if let raw = unsafe dialer.raw { unsafe stream.commit(raw) }
    }

    /// The next event, nil if all events that have arrived were returned.
    ///
    /// Statements may be sent between two calls.
    public mutating func next() -> PGSessionEvent? {
        while true {
            if let answer = stream.nextAnswer() { return answer }
            if let notice = takeNotice() { return notice }
            // In these states the connection is in pipeline mode.
            let isSettingUp: Bool
            switch machine.state {
            case .settingUp: isSettingUp = true
            case .ready: isSettingUp = false
            case .stopped, .connecting, .backingOff, .closed: return nil
            }
            guard let raw = unsafe dialer.raw else { return nil }
            switch unsafe stream.advance(raw, isSettingUp: isSettingUp) {
            case .idle: return nil
            case .notification(let arrived): return .notification(arrived)
            case .answered: break
            case .settled: perform(machine.setUpDone(now: now))
            case .ended(let error): end(error)
            }
        }
    }

    private mutating func takeNotice() -> PGSessionEvent? {
        guard !notices.isEmpty else { return nil }
        switch notices.removeFirst() {
        case .ready: return .ready
        case .lost(let error, let tags): return .lost(error, unanswered: tags)
        case .retryAt(let moment): return .retryAt(moment)
        }
    }
}

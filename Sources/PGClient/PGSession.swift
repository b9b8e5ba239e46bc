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
    enum Notice {
        case ready
        case lost(PGError, [UInt64])
        case retryAt(UInt64)
    }

    /// The state of a statement on this connection. Until the server has confirmed it, further groups send the text. If
    /// the first group fails before its `PREPARE`, the others must not fail with it.
    struct Prepared {
        var statement: PGStatement
        var name: String
        var isConfirmed: Bool
    }

    private let configuration: Configuration
    var machine: PGSessionMachine
    var link: PGLink?
    var pipeline = PGPipeline()
    var group = PGGroup()
    var notices: [Notice] = []
    var prepared: [ObjectIdentifier: Prepared] = [:]
    /// Why the connection has ended, while earlier answers are still being returned.
    var dying: PGError?
    /// Why the `PREPARE` or the opening before a statement failed. That statement reports it.
    var prepareError: PGError?
    var isGroupOpen = false
    var flushPending = false
    var now: UInt64 = 0
    /// When bytes were last sent or received, or when the first statement after an idle time was sent.
    var heardAt: UInt64 = 0
    /// The server process of a connection that was closed for its silence, until another connection can end it.
    private var silentProcess: Int32?
    private var string: PGConnectionString
    /// By how many hosts the list was rotated.
    private var hostShift = 0
    private var preparedCount = 0
    private var connectWrites = true
    private var generation: UInt64 = 0
    private var random = SystemRandomNumberGenerator()

    /// A session that is not started.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        string = configuration.string
        machine = PGSessionMachine(policy: configuration.policy)
    }

    /// The state of the connection.
    public var state: PGSessionMachine.State { machine.state }

    /// Whether statements can be sent.
    public var isReady: Bool {
        if case .ready = machine.state { dying == nil } else { false }
    }

    /// The number of attempts to connect.
    public private(set) var attempts = 0

    /// The connection for libpq's functions.
    var raw: OpaquePointer? {
        switch link {
        case .some(let link): unsafe link.raw
        case .none: nil
        }
    }

    /// The process id of the server, 0 without a connection. C: `PQbackendPID`.
    public var processID: Int32 {
        guard let raw = unsafe raw else { return 0 }
        return unsafe PQbackendPID(raw)
    }

    /// The socket to poll; nil without a connection. Read it again after each call of `process`, `next` and `send`.
    public var interest: PGSessionInterest? {
        guard let raw = unsafe raw, case let descriptor = unsafe PQsocket(raw), descriptor >= 0 else { return nil }
        if case .connecting = machine.state {
            return PGSessionInterest(
                descriptor: descriptor, read: !connectWrites, write: connectWrites, generation: generation)
        }
        return PGSessionInterest(descriptor: descriptor, read: true, write: flushPending, generation: generation)
    }

    /// When `process` and `next` are due although the socket is not ready; nil if never. 0: an event waits.
    public var nextDeadline: UInt64? { dying == nil && notices.isEmpty ? machine.deadline ?? answerDue : 0 }

    /// Since when the server has been silent while it owes an answer. Nil if it owes none.
    public var silentSince: UInt64? { isReady && !pipeline.isEmpty ? heardAt : nil }

    /// When the server's silence exceeds the limit.
    private var answerDue: UInt64? {
        guard let limit = configuration.answerTimeout, let silentSince else { return nil }
        return silentSince + limit * UInt64(max(1, pipeline.statementsOfGroup))
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
            if connectWrites ? writable : readable { advance() }
        case .settingUp, .ready:
            if readable { consume() }
            if writable && flushPending { flush() }
        case .stopped, .backingOff, .closed:
            break
        }
        if let deadline = machine.deadline, now >= deadline {
            perform(machine.deadlineReached(now: now, random: random.next()))
        }
        // After a suspension of this process the answer may be in the socket, unread.
        if let due = answerDue, now >= due, !hasInput {
            giveUp("no answer from the server for \((now - heardAt) / 1_000_000_000) s", now: now)
        }
    }

    private var hasInput: Bool {
        switch link {
        case .some(let link): link.hasInput
        case .none: false
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
    mutating func end(_ error: PGError) {
        perform(machine.failed(now: now, random: random.next()), error)
    }

    /// Carries out the machine's decisions. No other code does.
    mutating func perform(_ action: PGSessionMachine.Action, _ error: PGError? = nil) {
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
            // The silent host moves to the end of the list and stays there. The host that answered instead stays in
            // front. So a lost session is back at once, without waiting for the time limit of the silent host.
            if let place = link?.place { hostShift += string.steps(behind: place) }
            let seconds = configuration.policy.connectTimeout / 1_000_000_000
            let text = "no answer within \(seconds) s from \(string.summary)"
            notices.append(.lost(PGError(.timeout, operation: "PQconnectPoll", text), disconnect()))
            notices.append(.retryAt(retryAt))
        case .close:
            _ = disconnect()
            group.removeAll()
            notices.removeAll()
        }
    }

    private mutating func connect() {
        attempts += 1
        generation += 1
        connectWrites = true
        string = configuration.string.rotated(by: hostShift)
        do throws(PGError) {
            link = try PGLink.start(string)
        } catch {
            end(error)
        }
    }

    private mutating func advance() {
        let progress: PGLink.Progress
        switch link {
        case .some(let link): progress = link.step(string)
        case .none: return
        }
        switch progress {
        case .reading:
            connectWrites = false
            generation += 1
        case .writing:
            connectWrites = true
            generation += 1
        case .connected:
            generation += 1
            perform(machine.connected())
        case .failed(let error):
            end(error)
        }
    }

    private mutating func setUp() {
        guard let raw = unsafe raw else { return }
        guard unsafe PQsetnonblocking(raw, 1) == 0, unsafe PQenterPipelineMode(raw) == 1 else {
            return fail("PQenterPipelineMode")
        }
        var statements = configuration.setUp
        if let silentProcess, let sql = configuration.terminationSQL?(silentProcess) { statements.insert(sql, at: 0) }
        silentProcess = nil
        for statement in statements {
            guard unsafe PQsendQueryParams(raw, statement, 0, nil, nil, nil, nil, 1) == 1 else {
                return fail("PQsendQueryParams")
            }
            pipeline.append(.setUp)
        }
        guard unsafe PQpipelineSync(raw) == 1 else { return fail("PQpipelineSync") }
        pipeline.append(.sync)
        flush()
    }

    /// Parts of the private configuration for `PGSession+Pipeline.swift`.
    var prepares: Bool { configuration.prepares }
    var openings: [String] { configuration.openings }

    /// A statement name that this connection has not used.
    mutating func freshName(_ statement: PGStatement) -> String {
        preparedCount += 1
        return "\(statement.name)_\(preparedCount)"
    }

    private mutating func disconnect() -> [UInt64] {
        link = nil
        dying = nil
        prepareError = nil
        isGroupOpen = false
        flushPending = false
        prepared.removeAll(keepingCapacity: true)
        return group.removeUnsettled() + pipeline.removeAll()
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// A connection for an event loop: never blocks (but for looking up host names), sends statements without
/// waiting for the answers of earlier ones, and comes back by itself.
///
/// ```
/// owner                         session                          server
///   start(now) ───────────────►  connect, set up  ─────────────►
///   poll interest, nextDeadline
///   process(readable…, now) ──►  read, write, decide
///   next() until nil ◄────────   ready │ result │ failed │ notification │ lost │ retryAt
///   send(…, tag) ─────────────►  Parse? Bind Execute Sync ─────►
/// ```
/// It never waits itself: the owner polls `interest` and calls `process` when it is ready or `nextDeadline`
/// has come, then drains `next()`. Every accepted tag is heard of exactly once: `result`, `failed` or `lost`. A
/// result is handed out when its transaction has committed, never before.
/// The decisions are `PGSessionMachine`'s. Confined to one thread.
@safe public struct PGSession: ~Copyable {
    /// What a session is to do with its connection.
    public struct Configuration: Sendable {
        /// Where to connect.
        public var string: PGConnectionString
        /// Run in order on each new connection, before `ready`: `set …`, `listen …`. In one transaction.
        public var setUp: [String]
        /// Whether statements are prepared once per connection. Off for PgBouncer in transaction mode.
        public var prepares: Bool
        /// Run in order at the beginning of each group, in its transaction, and not told of: `select set_config(…,
        /// true)` behind PgBouncer in transaction mode, where what `setUp` sets would be another client's in the next
        /// transaction. If one fails, the first statement of the group fails by it.
        public var openings: [String]
        /// The times.
        public var policy: PGSessionMachine.Policy
        /// For how long nothing may be heard of the server while it owes an answer, for each statement up to the end of
        /// the group whose turn it is: longer than its `statement_timeout`, which a server that hangs, or a proxy that
        /// has lost it, does not keep. Then the connection is given up. Nil: for ever.
        public var answerTimeout: UInt64?
        /// Run before `setUp` on the connection that follows one given up for its silence: the text that ends the
        /// server's process of that number. It may be there still, and would keep its locks and one of the server's
        /// connections. Nil: nothing.
        public var ending: (@Sendable (Int32) -> String)?

        /// A session that prepares; the timeout of an attempt is the string's `connect_timeout`.
        public init(string: PGConnectionString, setUp: [String] = [], prepares: Bool = true, openings: [String] = []) {
            self.string = string
            self.setUp = setUp
            self.prepares = prepares
            self.openings = openings
            policy = PGSessionMachine.Policy()
            policy.connectTimeout = UInt64(string.connectTimeoutSeconds) * 1_000_000_000
        }
    }

    enum Notice {
        case ready
        case lost(PGError, [UInt64])
        case retryAt(UInt64)
    }

    /// What a connection knows of a statement. Until the server has confirmed it, further groups send the text:
    /// if the first one fails before its `PREPARE`, they must not fail with it.
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
    /// The reason for the end of the connection, while answers that had arrived before it are still handed out.
    var dying: PGError?
    /// Why the `PREPARE` or the opening in front of a statement failed: that statement reports it.
    var prepareError: PGError?
    var isGroupOpen = false
    var flushPending = false
    var now: UInt64 = 0
    /// When bytes went to or fro last, or the first statement was sent after everything was answered.
    var heardAt: UInt64 = 0
    /// The server's process that was given up for its silence, until a connection is there that can end it.
    private var silentProcess: Int32?
    private var string: PGConnectionString
    /// By how many hosts the list has been moved on.
    private var hostShift = 0
    private var preparedCount = 0
    private var connectWrites = true
    private var generation: UInt64 = 0
    private var random = SystemRandomNumberGenerator()

    /// A session that has not begun to connect.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        string = configuration.string
        machine = PGSessionMachine(policy: configuration.policy)
    }

    /// What it is doing.
    public var state: PGSessionMachine.State { machine.state }

    /// Whether statements can be sent.
    public var isReady: Bool {
        if case .ready = machine.state { dying == nil } else { false }
    }

    /// Attempts to connect so far.
    public private(set) var attempts = 0

    /// The connection as libpq's functions take it.
    var raw: OpaquePointer? {
        switch link {
        case .some(let link): unsafe link.raw
        case .none: nil
        }
    }

    /// The server's process, 0 without a connection. C: `PQbackendPID`.
    public var processID: Int32 {
        guard let raw = unsafe raw else { return 0 }
        return unsafe PQbackendPID(raw)
    }

    /// What to poll; `nil` without a connection. Look again after every call of `process`, `next` and `send`.
    public var interest: PGSessionInterest? {
        guard let raw = unsafe raw, case let descriptor = unsafe PQsocket(raw), descriptor >= 0 else { return nil }
        if case .connecting = machine.state {
            return PGSessionInterest(
                descriptor: descriptor, read: !connectWrites, write: connectWrites, generation: generation)
        }
        return PGSessionInterest(descriptor: descriptor, read: true, write: flushPending, generation: generation)
    }

    /// When `process` and `next` are due though nothing is ready, if ever; 0, that is now, if something waits to be
    /// told.
    public var nextDeadline: UInt64? { dying == nil && notices.isEmpty ? machine.deadline ?? answerDue : 0 }

    /// Since when nothing has been heard of the server, while it owes an answer; nil if it owes none.
    public var silentSince: UInt64? { isReady && !pipeline.isEmpty ? heardAt : nil }

    /// When the server has owed an answer for too long.
    private var answerDue: UInt64? {
        guard let limit = configuration.answerTimeout, let silentSince else { return nil }
        return silentSince + limit * UInt64(max(1, pipeline.statementsOfGroup))
    }

    /// Begins to connect. Once; later calls do nothing.
    public mutating func start(now: UInt64) {
        self.now = now
        perform(machine.start(now: now))
    }

    /// Reads and writes what the socket allows, and does what is due. Drain `next()` afterwards. Also tells the time:
    /// statements that are sent before the next call count as sent at that moment.
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
        // After a pause of this process the answer may be there, unread.
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

    /// Gives the connection up and makes a new one after the usual wait; for a server that no longer answers.
    public mutating func abandon(_ reason: String, now: UInt64) {
        self.now = now
        end(PGError(.lost, operation: "abandon", reason))
    }

    /// Gives the connection up like `abandon`, because its server says nothing; see `Configuration.ending`.
    public mutating func giveUp(_ reason: String, now: UInt64) {
        silentProcess = processID
        abandon(reason, now: now)
    }

    /// Ends the connection, for good. Tags that are not answered are never heard of again.
    public mutating func close() {
        perform(machine.close())
    }

    /// Ends the connection for a reason: what the machine says about the next one is told to the owner.
    mutating func end(_ error: PGError) {
        perform(machine.failed(now: now, random: random.next()), error)
    }

    /// The interpreter: the only place where the machine's decisions become calls.
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
            // The host that stayed silent goes to the end of the list, and for good: the one that answered in its stead
            // stays in front, so that a cut session is back at once and not after the time that the silent one is
            // given.
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
        if let ending = configuration.ending, let silentProcess { statements.insert(ending(silentProcess), at: 0) }
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

    /// Whether statements are prepared, and the server's name for this one: `nil` if it has to be prepared first.
    var prepares: Bool { configuration.prepares }
    var openings: [String] { configuration.openings }

    /// A name that this connection has not used yet.
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

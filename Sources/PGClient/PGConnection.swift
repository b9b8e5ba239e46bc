// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Glibc

/// A blocking connection for commands, the migrator and tests. The worker's loop uses `PGSession`.
///
/// Transactions are plain SQL: `execute("begin")`. Notices are dropped. Use it on one thread only.
public struct PGConnection: ~Copyable {
    private let link: PGLink
    private let answerSeconds: Int?

    /// Connects. Each of several hosts has its own time limit.
    ///
    /// - Parameter answerSeconds: the longest wait for an answer, more than the server's `statement_timeout`. A longer
    ///   wait, for example because the server hangs, throws `.timeout`, and the connection is unusable. Nil: no limit.
    /// - Throws: `.connect` or `.timeout`. `isConfiguration` is true if a retry cannot help.
    public init(_ string: PGConnectionString, answerSeconds: Int? = nil) throws(PGError) {
        self.answerSeconds = answerSeconds
        var silent = 0
        var foundReadOnly = false
        while true {
            do throws(PGError) {
                link = try Self.connect(string.rotated(by: silent))
                return
            } catch {
                silent += 1
                foundReadOnly = foundReadOnly || error.foundReadOnly
                guard error.code == .timeout, silent < string.hostCount else {
                    var last = error
                    last.foundReadOnly = foundReadOnly
                    throw last
                }
            }
        }
    }

    /// Connects for statements that only read. If no server accepts writes, it takes one that is read-only by default
    /// and is not a standby.
    ///
    /// A server that accepts writes comes first. A former primary that was closed by `default_transaction_read_only`
    /// has outdated data.
    public static func connectForReading(_ string: PGConnectionString) throws(PGError) -> PGConnection {
        do throws(PGError) {
            return try PGConnection(string)
        } catch {
            guard error.foundReadOnly, !string.choosesServer else { throw error }
            return try PGConnection(string.primary)
        }
    }

    /// Connects to the server of the connection string.
    public init(_ text: String) throws(PGError) {
        try self.init(PGConnectionString(text))
    }

    /// The process id of the server, for `pg_terminate_backend`. C: `PQbackendPID`.
    public var processID: Int32 { unsafe PQbackendPID(link.raw) }

    /// Runs a script of any number of statements, in one implicit transaction unless it contains its own.
    ///
    /// Rows are dropped. C: `PQexec`.
    public func execute(_ script: String) throws(PGError) {
        if let answerSeconds {
            _ = try unsafe take(within: answerSeconds, PQsendQuery(link.raw, script))
        } else {
            _ = try unsafe take(PQexec(link.raw, script), "PQexec")
        }
    }

    /// Runs one statement without parameters. Rows have binary form. C: `PQexecParams`.
    public func query(_ sql: String) throws(PGError) -> PGResult {
        var none = PGParameters()
        return try query(sql, &none)
    }

    /// Runs one statement. Rows have binary form. C: `PQexecParams`.
    public func query(_ sql: String, _ parameters: inout PGParameters) throws(PGError) -> PGResult {
        if let answerSeconds {
            let isSent = unsafe parameters.withRaw { raw in
                unsafe PQsendQueryParams(link.raw, sql, raw.count, raw.types, raw.values, raw.lengths, raw.formats, 1)
            }
            return try take(within: answerSeconds, isSent)
        }
        let result = unsafe parameters.withRaw { raw in
            unsafe PQexecParams(link.raw, sql, raw.count, raw.types, raw.values, raw.lengths, raw.formats, 1)
        }
        return try unsafe take(result, "PQexecParams")
    }

    /// The names of the columns that a statement returns. The statement does not run. C: `PQprepare`,
    /// `PQdescribePrepared`.
    public func columnNames(of sql: String) throws(PGError) -> [String] {
        _ = try unsafe take(PQprepare(link.raw, "", sql, 0, nil), "PQprepare")
        let described = try unsafe take(PQdescribePrepared(link.raw, ""), "PQdescribePrepared")
        return (0..<described.columnCount).map { described.name(ofColumn: $0) }
    }

    /// The notifications that have arrived. It reads the socket and does not wait. C: `PQnotifies`.
    public func notifications() -> [PGNotification] {
        unsafe PQconsumeInput(link.raw)
        var arrived: [PGNotification] = []
        while let next = unsafe PGNotification.next(from: link.raw) { arrived.append(next) }
        return arrived
    }

    /// The result of `PQexec`, or an error if no answer comes in time. C: `PQisBusy`, `PQgetResult`.
    private func take(within seconds: Int, _ isSent: CInt) throws(PGError) -> PGResult {
        var last: OpaquePointer?
        var isOver = isSent != 1
        while !isOver {
            var wait = pollfd(fd: link.descriptor, events: Int16(POLLIN), revents: 0)
            while unsafe PQisBusy(link.raw) == 1 {
                let ready = unsafe poll(&wait, 1, CInt(seconds * 1000))
                if ready < 0 && errno == EINTR { continue }
                guard ready > 0 else {
                    unsafe PQclear(last)
                    throw PGError(.timeout, operation: "PQgetResult", "no answer within \(seconds) s")
                }
                if unsafe PQconsumeInput(link.raw) == 0 { break }
            }
            guard let next = unsafe PQgetResult(link.raw) else { break }
            unsafe PQclear(last)
            unsafe last = next
            isOver = [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(unsafe PQresultStatus(next))
        }
        return try unsafe take(last, "PQgetResult")
    }

    private func take(_ result: OpaquePointer?, _ operation: String) throws(PGError) -> PGResult {
        guard let result = unsafe result else { throw unsafe PGLink.lostError(link.raw, operation) }
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            return unsafe PGResult(owning: result)
        case PGRES_FATAL_ERROR:
            defer { unsafe PQclear(result) }
            let error = unsafe PGError.fromServer(result, operation: operation)
            // libpq's error about a closed connection replaces the server's error. libpq keeps the server's text in
            // front of its own.
            throw error.sqlState == nil ? unsafe PGLink.lostError(link.raw, operation) : error
        default:
            unsafe PQclear(result)
            throw PGError(.unexpected, operation: operation, "COPY statements are not supported here")
        }
    }

    private static func connect(_ string: PGConnectionString) throws(PGError) -> PGLink {
        let link = try PGLink.start(string)
        let deadline = milliseconds() + string.connectTimeoutSeconds * 1000
        var writing = true
        while true {
            var wait = pollfd(fd: link.descriptor, events: Int16(writing ? POLLOUT : POLLIN), revents: 0)
            let left = deadline - milliseconds()
            let ready = left > 0 ? unsafe poll(&wait, 1, CInt(left)) : 0
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else {
                var error = PGError(
                    .timeout, operation: "PQconnectPoll",
                    "no answer within \(string.connectTimeoutSeconds) s from \(string.summary)")
                error.foundReadOnly = link.foundReadOnly
                throw error
            }
            switch link.step(string) {
            case .reading: writing = false
            case .writing: writing = true
            case .connected: return link
            case .failed(let error): throw error
            }
        }
    }

    private static func milliseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Glibc

/// Owns one `PGconn`: it connects step by step, and has the calls that both kinds of connection share.
@safe struct PGLink: ~Copyable {
    /// The event that an attempt to connect waits for.
    enum Progress {
        case reading
        case writing
        case connected
        case failed(PGError)
    }

    let raw: OpaquePointer

    /// Begins an attempt. It looks the host name up, which blocks. C: `PQconnectStartParams`.
    static func start(_ string: PGConnectionString) throws(PGError) -> PGLink {
        let started = unsafe string.withKeywords { unsafe PQconnectStartParams($0, $1, 0) }
        guard let started = unsafe started else {
            throw PGError(.connect, operation: "PQconnectStartParams", "out of memory")
        }
        let link = unsafe PGLink(raw: started)
        // Only the verbose form of a refusal contains its SQLSTATE; see `connectError`.
        unsafe PQsetErrorVerbosity(link.raw, PQERRORS_VERBOSE)
        unsafe PQsetNoticeReceiver(link.raw, { _, _ in }, nil)
        guard unsafe PQstatus(link.raw) != CONNECTION_BAD else { throw link.connectError(string) }
        return link
    }

    private init(raw: OpaquePointer) {
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe PQfinish(raw)
    }

    /// The socket. Each step of connecting may replace it. C: `PQsocket`.
    var descriptor: Int32 { unsafe PQsocket(raw) }

    /// Whether bytes, or the end of the connection, can be read. C: `poll`.
    var hasInput: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) != 0
    }

    /// The current host and port. C: `PQhost`, `PQport`.
    var place: (host: String, port: String) {
        func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
            unsafe pointer.map { unsafe String(cString: $0) } ?? ""
        }
        return unsafe (text(PQhost(raw)), text(PQport(raw)))
    }

    /// Whether this attempt skipped a server that accepts no writes. libpq collects its reasons.
    ///
    /// C: `PQerrorMessage`.
    var foundReadOnly: Bool {
        unsafe PQerrorMessage(raw).map { unsafe String(cString: $0).contains(Self.readOnly) } ?? false
    }

    /// libpq's text about a server that accepts no writes.
    private static let readOnly = "session is read-only"

    /// Performs one step of connecting. Call it when the socket is ready for the result of the last step. C:
    /// `PQconnectPoll`.
    func step(_ string: PGConnectionString) -> Progress {
        switch unsafe PQconnectPoll(raw) {
        case PGRES_POLLING_READING: return .reading
        case PGRES_POLLING_WRITING: return .writing
        case PGRES_POLLING_OK:
            unsafe PQsetErrorVerbosity(raw, PQERRORS_DEFAULT)
            return .connected
        default: return .failed(connectError(string))
        }
    }

    /// Why an existing connection was lost. C: `PQerrorMessage`.
    static func lostError(_ raw: OpaquePointer, _ operation: String) -> PGError {
        let text = unsafe PQerrorMessage(raw).map { unsafe String(cString: $0) } ?? ""
        return PGError(.lost, operation: operation, PGError.firstLine(text.isEmpty ? "connection lost" : text))
    }

    /// Why an attempt failed. Several hosts have several reasons, and the last one counts.
    ///
    /// A refusal reads `connection to server at … failed: FATAL:  28P01: password …`, with a LOCATION line.
    private func connectError(_ string: PGConnectionString) -> PGError {
        let text = unsafe PQerrorMessage(raw).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
        let reasons = lines.filter { $0.hasPrefix("connection to server") }
        var line = String((reasons.last ?? lines.first) ?? "no reason given")
        var state: SQLState?
        if let (range, code) = Self.state(in: line) {
            state = code
            line.replaceSubrange(range, with: "")
        }
        let isConfiguration =
            switch state {
            case .invalidPassword, .invalidAuthorization, .noSuchDatabase, .insufficientPrivilege: true
            default: text.contains("no password supplied") || text.contains("SSL was required")
            }
        if line.hasSuffix(Self.readOnly) { line += ", as on a standby or where default_transaction_read_only is on" }
        var error = PGError(
            .connect, operation: "PQconnectPoll", string.redact(line), sqlState: state,
            isConfiguration: isConfiguration)
        error.foundReadOnly = foundReadOnly
        return error
    }

    /// The range of `28P01: ` after two spaces, and the five characters.
    private static func state(in line: String) -> (Range<String.Index>, SQLState)? {
        var start = line.startIndex
        while let gap = line[start...].firstRange(of: ":  ") {
            let code = line[gap.upperBound...].prefix(5)
            let tail = line[code.endIndex...].prefix(2)
            if code.count == 5, tail == ": ", code.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }) {
                return (gap.upperBound..<tail.endIndex, SQLState(rawValue: String(code)))
            }
            start = gap.upperBound
        }
        return nil
    }
}

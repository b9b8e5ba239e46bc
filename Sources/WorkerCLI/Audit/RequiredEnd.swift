// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The required end of a hostile input.
enum RequiredEnd: Sendable {
    /// The call fails with one of these codes, without a connection.
    case refused([ErrorCode])
    /// The call fails with one of these codes, after so many requests to its server and none to the other.
    case failed([ErrorCode], requests: Int)
    /// The call gets this body, and these header lines if they are given.
    case answered(status: Int = 200, body: [UInt8], headers: [String]?)
    /// So many requests arrive. The last one contains all lines of `holds`, and no line that begins like one of
    /// `lacks`.
    case arrived(requests: Int = 1, holds: [String], lacks: [String])

    /// The requirement in words that follow "must".
    var words: String {
        switch self {
        case .refused(let codes): "be refused as \(RequiredEnd.anyOf(codes)), nothing sent"
        case .failed(let codes, let requests):
            "end as \(RequiredEnd.anyOf(codes)) after \(requests) request\(requests == 1 ? "" : "s")"
        case .answered(let status, let body, nil): "be answered with \(status), \(body.count) bytes"
        case .answered(let status, let body, let headers?):
            "be answered with \(status), \(body.count) bytes, \(headers.count) header lines"
        case .arrived(let requests, _, let lacks):
            (lacks.isEmpty ? "arrive unchanged" : "arrive without \(lacks.joined(separator: ", "))")
                + (requests == 1 ? ", as the only request" : ", as request \(requests)")
        }
    }

    /// The deviation from the requirement, nil without one. It quotes no part of a request.
    func defect(in trace: CallTrace) -> String? {
        guard trace.outcome != nil else { return trace.words }
        switch self {
        case .refused(let codes): return RequiredEnd.refusalDefect(codes, trace)
        case .failed(let codes, let requests):
            guard let code = trace.failure?.code, codes.contains(code) else { return trace.words }
            if trace.elsewhere > 0 { return "\(trace.elsewhere) requests came to the other server" }
            return trace.requests == requests ? nil : "\(trace.requests) requests came"
        case .answered(let status, let body, let headers):
            guard let response = trace.response, response.status == status else { return trace.words }
            guard response.body == body else { return "\(trace.words), and the body differs" }
            guard let headers else { return nil }
            let lines = String(decoding: response.headerBlock, as: UTF8.self).split(separator: "\n").map(String.init)
            return lines == headers ? nil : "its \(lines.count) header lines differ"
        case .arrived(let requests, let holds, let lacks):
            guard let response = trace.response, response.status == 200 else { return trace.words }
            let came = trace.requests + trace.elsewhere
            guard came == requests else { return "\(came) requests came" }
            return RequiredEnd.requestDefect(response.body, holds, lacks)
        }
    }

    private static func anyOf(_ codes: [ErrorCode]) -> String { codes.map(\.rawValue).joined(separator: " or ") }

    private static func refusalDefect(_ codes: [ErrorCode], _ trace: CallTrace) -> String? {
        if trace.connections > 0 { return "\(trace.words), and \(trace.connections) connections were made" }
        guard let failure = trace.failure, codes.contains(failure.code), failure.sent == .no else { return trace.words }
        return trace.requests + trace.elsewhere == 0 ? nil : "a request came"
    }

    /// Compares the lines of a request. A lone CR or LF ends a line, as in lenient servers.
    private static func requestDefect(_ request: [UInt8], _ holds: [String], _ lacks: [String]) -> String? {
        let lines = String(decoding: request, as: UTF8.self)
            .split { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
            .map(String.init)
        let absent = holds.filter { !lines.contains($0) }
        if !absent.isEmpty { return "\(absent.count) lines of it did not arrive unchanged" }
        let found = lacks.filter { start in
            lines.contains { $0.lowercased().hasPrefix(start.lowercased()) }
        }
        return found.isEmpty ? nil : "it arrived with \(found.joined(separator: ", "))"
    }
}

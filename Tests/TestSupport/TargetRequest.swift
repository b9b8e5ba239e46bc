// SPDX-License-Identifier: Apache-2.0

/// One request as the target received it, with its times.
public struct TargetRequest: Sendable {
    /// `GET`, `POST`, …
    public var method: String
    /// The path as sent, including the query.
    public var path: String
    /// The headers as sent, in order.
    public var headers: [(name: String, value: String)]
    /// The number of requests for this path so far, including this one.
    public var turn: Int
    /// The arrival in monotonic nanoseconds.
    public var arrivedAt: UInt64
    /// When the answer was sent completely or given up; nil while it is in progress.
    public var endedAt: UInt64?
    /// Whether the client disconnected before it had the whole answer.
    public var isAborted = false

    /// The value of a header, by its lower-case name.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}

/// One part of an answer.
public enum TargetStep: Sendable {
    /// Sends these bytes unchanged.
    case send([UInt8])
    /// Sends nothing for a while.
    case pause(milliseconds: Int)
    /// Repeats these bytes until the client disconnects.
    case flood([UInt8])
    /// Waits until the test calls `TargetServer.release`.
    case held
    /// Sends nothing more and keeps the connection open.
    case hang
    /// Closes the connection by FIN.
    case close
    /// Ends the connection by RST.
    case reset

    /// A complete answer with its length.
    public static func answer(_ status: Int, _ body: String = "{}", headers: [String] = []) -> [TargetStep] {
        let lines = [
            "HTTP/1.1 \(status) Answer", "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
        ]
        return [.send([UInt8](((lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))]
    }

    /// The steps that a path asks for: `/ok`, `/wait/MS`, `/held`, `/hang`, or `/status/503,503,200`.
    ///
    /// `/status` uses one status per turn and repeats the last one. The rest of the path serves only to distinguish
    /// requests. Any other path gets 404.
    public static func byPath(_ request: TargetRequest) -> [TargetStep] {
        let parts = request.path.split(separator: "/").map(String.init)
        let argument = parts.count > 1 ? parts[1] : ""
        switch parts.first {
        case "ok": return answer(200)
        case "wait": return [.pause(milliseconds: Int(argument) ?? 0)] + answer(200)
        case "held": return [.held] + answer(200)
        case "hang": return [.hang]
        case "status":
            let statuses = argument.split(separator: ",").compactMap { Int($0) }
            return answer(statuses.isEmpty ? 404 : statuses[min(request.turn, statuses.count) - 1])
        default: return answer(404)
        }
    }
}

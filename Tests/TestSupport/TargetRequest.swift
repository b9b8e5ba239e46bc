// SPDX-License-Identifier: Apache-2.0

/// One request as the target saw it, with its times.
public struct TargetRequest: Sendable {
    /// `GET`, `POST`, …
    public var method: String
    /// As sent, query included.
    public var path: String
    /// As sent, in order.
    public var headers: [(name: String, value: String)]
    /// How many requests had come for this path when it arrived, itself included.
    public var turn: Int
    /// Monotonic nanoseconds.
    public var arrivedAt: UInt64
    /// When the answer was sent whole or given up; nil while it is under way.
    public var endedAt: UInt64?
    /// Whether the client went before it had the whole answer.
    public var isAborted = false

    /// The value of a header, by its lower-case name.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}

/// One part of an answer.
public enum TargetStep: Sendable {
    /// These bytes, as they are.
    case send([UInt8])
    /// Nothing for a while.
    case pause(milliseconds: Int)
    /// These bytes again and again until the client goes.
    case flood([UInt8])
    /// Nothing until the test has called `TargetServer.release`.
    case held
    /// Nothing more, ever; the connection stays open.
    case hang
    /// An orderly end of the connection.
    case close
    /// An end by RST.
    case reset

    /// A whole answer with its length.
    public static func answer(_ status: Int, _ body: String = "{}", headers: [String] = []) -> [TargetStep] {
        let lines = [
            "HTTP/1.1 \(status) Answer", "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
        ]
        return [.send([UInt8](((lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))]
    }

    /// What a path asks for: `/ok`, `/wait/MS`, `/held`, `/hang`, `/status/503,503,200` (one for each turn, the last
    /// repeats); what follows tells requests apart.
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

// SPDX-License-Identifier: Apache-2.0

/// A prepared answer of `services.stub`, which replaces the call.
public struct StubAnswer: Equatable, Sendable {
    /// The status.
    public var status: Int
    /// The headers, in order.
    public var headers: [HTTPHeader]
    /// The body.
    public var body: [UInt8]
    /// How long the answer takes.
    public var delay: Duration

    /// An answer.
    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], delay: Duration = .zero) {
        self.status = status
        self.headers = headers
        self.body = body
        self.delay = delay
    }

    /// The header lines in the form of an answer: `name: value` and LF each, names in lower case.
    public var headerBlock: [UInt8] {
        headers.flatMap { Array("\($0.name.lowercased()): \($0.value)\n".utf8) }
    }
}

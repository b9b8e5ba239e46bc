// SPDX-License-Identifier: Apache-2.0

/// The wait that an answer's headers ask for: `Retry-After`, `retry-after-ms`, `x-ms-retry-after-ms` and the headers of
/// quotas.
public struct RequestedWait: Equatable, Sendable {
    /// The longest wait of the `Retry-After` kind. Nil if none is readable.
    public var retryAfter: Duration?
    /// The wait until a used-up quota is renewed. Nil if no quota is used up.
    public var quotaReset: Duration?
    /// The name and the beginning of a value in an unknown form, if no other header names a wait.
    public var unreadable: String?

    private static let names: [Substring: WaitingTime.Unit] = [
        "retry-after": .seconds, "retry-after-ms": .milliseconds, "x-ms-retry-after-ms": .milliseconds,
    ]

    /// Reads a block of lines `name: value` and LF, with names in lower case.
    ///
    /// - Parameters:
    ///   - status: with 429, a quota without a readable number of remaining calls counts as used up.
    ///   - now: seconds since 1970 by the server's clock.
    public init(_ block: [UInt8], status: Int, now: Int64) {
        var quota = QuotaHeaders()
        // One pass over the lines, because an answer may repeat a name twenty thousand times.
        for line in String(decoding: block, as: UTF8.self).split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon]
            let value = WaitingTime.trimmed(line[line.index(after: colon)...])
            guard let unit = RequestedWait.names[name] else {
                quota.add(String(name), value)
                continue
            }
            if let wait = WaitingTime.parse(value, unit: unit, now: now) {
                retryAfter = max(retryAfter ?? .zero, wait)
            } else if !value.isEmpty, unreadable == nil {
                unreadable = RequestedWait.quote(name, value)
            }
        }
        let reset = quota.reset(mayLackRemaining: status == 429, now: now)
        quotaReset = reset.wait
        if retryAfter != nil || quotaReset != nil {
            unreadable = nil
        } else if unreadable == nil, let (name, value) = reset.unreadable {
            unreadable = RequestedWait.quote(Substring(name), value)
        }
    }

    private static func quote(_ name: Substring, _ value: Substring) -> String {
        "\(name) \"\(SanitizedText.escape(String(value.prefix(40))))\""
    }
}

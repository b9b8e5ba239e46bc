// SPDX-License-Identifier: Apache-2.0

/// The headers of an answer that describe quotas. If a quota is used up, the next call waits instead of being refused.
///
/// It reads `RateLimit: "default";r=0;t=30` and the older `limit=100, remaining=0, reset=30` (drafts of the IETF's
/// httpapi group). It also reads pairs of `…-Remaining` and `…-Reset` that begin with `RateLimit`, `X-RateLimit` or
/// `X-Rate-Limit`.
struct QuotaHeaders {
    /// The waits that the quotas of one answer ask for.
    struct Reset {
        /// The wait until the last used-up quota is renewed. Nil if no quota is used up.
        var wait: Duration?
        /// Name and value of a reset in an unknown form.
        var unreadable: (name: String, value: Substring)?
    }

    private static let prefixes = ["ratelimit", "x-ratelimit", "x-rate-limit"]
    private var lists: [String: [Substring]] = [:]

    /// Takes one header line. Other names are ignored.
    mutating func add(_ name: String, _ value: Substring) {
        guard QuotaHeaders.prefixes.contains(where: name.hasPrefix) else { return }
        lists[name, default: []].append(value)
    }

    /// Finds the used-up quotas.
    ///
    /// - Parameters:
    ///   - mayLackRemaining: whether a quota without a readable number of remaining calls counts as used up.
    ///   - now: seconds since 1970, for servers that send a moment instead of a wait.
    func reset(mayLackRemaining: Bool, now: Int64) -> Reset {
        let values = lists.mapValues { $0.joined(separator: ",") }
        var found = Reset()
        func take(_ name: String, _ text: Substring) {
            guard let wait = QuotaHeaders.wait(text, now: now) else {
                if !text.isEmpty, found.unreadable == nil { found.unreadable = (name, text) }
                return
            }
            if wait > .zero { found.wait = max(found.wait ?? .zero, wait) }
        }
        for prefix in QuotaHeaders.prefixes {
            let remaining = values[prefix + "-remaining"].map { QuotaHeaders.leading(Substring($0)) }
            guard let reset = values[prefix + "-reset"],
                QuotaHeaders.isUsedUp(remaining ?? nil, mayLackRemaining: mayLackRemaining)
            else { continue }
            take(prefix + "-reset", WaitingTime.trimmed(Substring(reset)))
        }
        if let value = values["ratelimit"] {
            for reset in QuotaHeaders.resets(value, mayLackRemaining: mayLackRemaining) { take("ratelimit", reset) }
        }
        return found
    }

    private static func isUsedUp(_ remaining: Double?, mayLackRemaining: Bool) -> Bool {
        remaining.map { $0 == 0 } ?? mayLackRemaining
    }

    /// The resets of the used-up policies in a `RateLimit` field.
    private static func resets(_ value: String, mayLackRemaining: Bool) -> [Substring] {
        let isOld = value.lowercased().contains("remaining")
        let policies = isOld ? [Substring(value)] : value.split(separator: ",")
        return policies.compactMap { policy in
            var remaining: Double?
            var reset: Substring?
            for part in policy.split(whereSeparator: { $0 == ";" || (isOld && $0 == ",") }) {
                let pair = part.split(separator: "=", maxSplits: 1).map(WaitingTime.trimmed)
                guard pair.count == 2 else { continue }
                switch pair[0].lowercased() {
                case "r", "remaining": remaining = WaitingTime.number(pair[1])
                case "t", "reset": reset = pair[1]
                default: break
                }
            }
            return isUsedUp(remaining, mayLackRemaining: mayLackRemaining) ? reset : nil
        }
    }

    /// The whole value is one date, or its first item is a wait. Repeated headers are joined with commas.
    private static func wait(_ text: Substring, now: Int64) -> Duration? {
        WaitingTime.parse(text, now: now)
            ?? WaitingTime.parse(text.prefix { $0 != "," && $0 != ";" }, now: now)
    }

    /// The number at the beginning of a value, up to a comma or semicolon.
    private static func leading(_ text: Substring) -> Double? {
        WaitingTime.number(WaitingTime.trimmed(text.prefix { $0 != "," && $0 != ";" }))
    }
}

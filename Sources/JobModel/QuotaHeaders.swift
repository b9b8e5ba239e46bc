// SPDX-License-Identifier: Apache-2.0

/// What an answer's headers tell of a quota that is used up: then the next call would be refused, and waits instead.
///
/// Read are `RateLimit: "default";r=0;t=30` and the older `limit=100, remaining=0, reset=30` (drafts of the IETF's
/// httpapi group), and pairs of `…-Remaining` and `…-Reset` that begin with `RateLimit`, `X-RateLimit` or `X-Rate-Limit`.
/// What cannot be read is ignored.
public enum QuotaHeaders {
    private static let prefixes = ["ratelimit", "x-ratelimit", "x-rate-limit"]

    /// The wait until a quota with nothing left is renewed; nil if there is none.
    ///
    /// - Parameters:
    ///   - block: lines `name: value` and LF, names in lower case.
    ///   - now: seconds since 1970, for servers that name a moment instead of a wait.
    public static func reset(_ block: [UInt8], now: Int64) -> Duration? {
        // Joined at the end: an answer may repeat a name twenty thousand times.
        var lists: [String: [Substring]] = [:]
        for line in String(decoding: block, as: UTF8.self).split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = String(line[..<colon])
            guard prefixes.contains(where: name.hasPrefix) else { continue }
            lists[name, default: []].append(line[line.index(after: colon)...])
        }
        let values = lists.mapValues { $0.joined(separator: ",") }
        var waits = prefixes.compactMap { prefix -> Duration? in
            guard let remaining = values[prefix + "-remaining"], leading(remaining) == 0,
                let reset = values[prefix + "-reset"]
            else { return nil }
            return wait(reset, now: now)
        }
        if let value = values["ratelimit"] { waits += items(value, now: now) }
        return waits.max()
    }

    /// The waits of the policies in a `RateLimit` field that have nothing left.
    private static func items(_ value: String, now: Int64) -> [Duration] {
        let isOld = value.lowercased().contains("remaining")
        let policies = isOld ? [Substring(value)] : value.split(separator: ",")
        return policies.compactMap { policy in
            var remaining: Double?
            var reset: Substring?
            for part in policy.split(whereSeparator: { $0 == ";" || (isOld && $0 == ",") }) {
                let pair = part.split(separator: "=", maxSplits: 1).map(trimmed)
                guard pair.count == 2 else { continue }
                switch pair[0].lowercased() {
                case "r", "remaining": remaining = number(pair[1])
                case "t", "reset": reset = pair[1]
                default: break
                }
            }
            guard remaining == 0, let reset else { return nil }
            return wait(String(reset), now: now)
        }
    }

    /// Seconds from now, or a moment: seconds since 1970, milliseconds since 1970, a date of HTTP or RFC 3339. Nil for what is over.
    private static func wait(_ text: String, now: Int64) -> Duration? {
        var seconds: Double
        if let value = leading(text) {
            // A billion seconds are 31 years from now, or 2001; read as milliseconds, moments begin where 5138 does.
            switch value {
            case ..<1e9: seconds = value
            case ..<1e11: seconds = value - Double(now)
            default: seconds = value / 1000 - Double(now)
            }
        } else if let date = date(String(trimmed(Substring(text))), now: now) {
            seconds = Double(date - now)
        } else {
            return nil
        }
        seconds = min(seconds, 3_600)
        return seconds > 0 ? .milliseconds(Int64((seconds * 1000).rounded(.up))) : nil
    }

    /// The date of HTTP, or the one that JSON knows, which some servers give instead.
    private static func date(_ text: String, now: Int64) -> Int64? {
        HTTPDate.parse(text, now: now) ?? InternetDate.parse(text)
    }

    /// The number that a value begins with, up to a comma or semicolon.
    private static func leading(_ text: String) -> Double? {
        number(trimmed(text.prefix { $0 != "," && $0 != ";" }))
    }

    /// Digits, maybe with decimals; a sign, an exponent and the like are none.
    private static func number(_ text: Substring) -> Double? {
        guard let first = text.utf8.first, first != 0x2e, text.utf8.count <= 20,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2e })
        else { return nil }
        return Double(text)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

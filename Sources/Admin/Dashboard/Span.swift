// SPDX-License-Identifier: Apache-2.0

/// A span of time in one number and one unit: `40 ms`, `1.5 s`, `12 s`, `3 min`, `5 h`, `2 d`.
enum Span {
    /// The span in words. The sign is ignored. An infinite span is `ever`.
    static func words(_ seconds: Double) -> String {
        let length = seconds.magnitude
        // From each bound on, the rounded number would be 1000 ms, 10.0 s, 120 s, 120 min or 48 h.
        // The last bound excludes infinity, NaN and numbers of days that `Int` cannot hold.
        switch length {
        case ..<0.9995: return "\(whole(length * 1000)) ms"
        case ..<9.95: return "\((length * 10).rounded() / 10) s"
        case ..<119.5: return "\(whole(length)) s"
        case ..<7170: return "\(whole(length / 60)) min"
        case ..<171_000: return "\(whole(length / 3600)) h"
        case ..<1e15: return "\(whole(length / 86_400)) d"
        default: return "ever"
        }
    }

    /// The distance of a moment, in the past or in the future. `seconds` is finite.
    static func words(ago seconds: Double) -> String {
        if seconds.magnitude < 0.5 { return "now" }
        return seconds < 0 ? "in \(words(seconds))" : "\(words(seconds)) ago"
    }

    private static func whole(_ number: Double) -> Int { Int(number.rounded()) }
}

// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The limits of a call in libcurl's units. They are kept from call to call, because most calls have equal limits.
struct SendingLimits {
    let source: CallLimits
    /// The total time; 0: unlimited.
    let totalMilliseconds: Int
    let connectMilliseconds: Int
    let firstByteMilliseconds: Int64
    let lowSpeedMilliseconds: Int64

    /// Rounds up to whole milliseconds. Zero or less becomes 1 ms, since 0 means "no limit" to libcurl.
    init(_ limits: CallLimits) {
        source = limits
        totalMilliseconds = limits.total == CallLimits.unlimited ? 0 : Int(SendingLimits.milliseconds(limits.total))
        let connect = Int(SendingLimits.milliseconds(limits.connect))
        connectMilliseconds = totalMilliseconds == 0 ? connect : min(totalMilliseconds, connect)
        firstByteMilliseconds = limits.firstByte.map(SendingLimits.milliseconds) ?? 0
        lowSpeedMilliseconds = limits.lowSpeedBytes > 0 ? SendingLimits.milliseconds(limits.lowSpeedTime) : 0
    }

    /// At most 23 days, because libcurl keeps milliseconds in 32 bits.
    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        return max(1, seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

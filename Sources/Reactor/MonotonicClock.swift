// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The clock of all deadlines in this program. It never jumps, and stops while the host is suspended.
public enum MonotonicClock {
    /// Nanoseconds since a moment before the program began. One vDSO call, about 30 ns.
    ///
    /// C: `clock_gettime(CLOCK_MONOTONIC)`.
    public static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

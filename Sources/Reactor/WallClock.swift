// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The clock of this host, for times that other programs read. It may jump.
public enum WallClock {
    /// Nanoseconds since 1970.
    ///
    /// C: `clock_gettime(CLOCK_REALTIME)`.
    public static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

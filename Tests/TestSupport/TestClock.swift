// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The clock of the tests, and the one function by which they wait.
public enum TestClock {
    /// The monotonic time in nanoseconds. C: `clock_gettime`.
    public static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Seconds since an earlier `now`.
    public static func seconds(since start: UInt64) -> Double { Double(now - start) / 1e9 }

    /// The CPU time of this thread in seconds. C: `clock_gettime` with `CLOCK_THREAD_CPUTIME_ID`.
    public static var threadTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Blocks this thread.
    public static func sleep(milliseconds: Int) {
        usleep(UInt32(milliseconds) * 1000)
    }

    /// Checks the condition until it holds, for as long as `Soak.seconds` says.
    ///
    /// The pause between two checks grows by a quarter each time, from 2 to 50 ms. A check may cost a query of several
    /// milliseconds, and other tests need the processor.
    ///
    /// - Throws: `TestFault` if the condition never held.
    public static func wait(
        _ seconds: Double, for what: @autoclosure () -> String, until condition: () throws -> Bool
    ) throws {
        let start = now
        let limit = Soak.seconds(seconds)
        var pause = 2_000.0
        while try !condition() {
            guard self.seconds(since: start) < limit else {
                throw TestFault(description: "after \(limit) s still not: \(what())")
            }
            usleep(UInt32(pause))
            pause = min(50_000, pause * 1.25)
        }
    }
}

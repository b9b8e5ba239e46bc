// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The length of the long tests: `make test` runs them reduced, `make soak` runs them in full.
public enum Soak {
    /// Whether the environment has `POSTRIDER_SOAK=1`.
    public static let isOn = unsafe getenv("POSTRIDER_SOAK").map { unsafe String(cString: $0) } == "1"

    /// The time limit for a promised time.
    ///
    /// A soak has the machine to itself and keeps to the promise. Otherwise other tests run at the same time, and the
    /// limit is five times as long.
    public static func seconds(_ promised: Double) -> Double { isOn ? promised : 5 * promised }

    /// The time limit in nanoseconds, the unit of `TestClock.now`.
    public static func nanoseconds(_ promised: Double) -> UInt64 { UInt64(seconds(promised) * 1e9) }

    /// The full number in a soak, otherwise the reduced one.
    public static func count(_ full: Int, reduced: Int) -> Int { isOn ? full : reduced }

    /// The length of a soak of `IsolationStormTests`: `POSTRIDER_SOAK_SECONDS`, by default one hour.
    public static let stormSeconds =
        unsafe getenv("POSTRIDER_SOAK_SECONDS").flatMap { unsafe Double(String(cString: $0)) } ?? 3_600

    /// The seeds of the random tests in `Tests/Integration/Storms`. Each seed gives another sequence of events.
    public static let stormSeeds: [UInt64] = isOn ? Array(1...20) : [1, 2]
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How often the long tests go round: `make test` is for every change, `make soak` runs the lists whole.
public enum Soak {
    /// Whether the environment says `POSTRIDER_SOAK=1`.
    public static let isOn = unsafe getenv("POSTRIDER_SOAK").map { unsafe String(cString: $0) } == "1"

    /// A promised time: held to the word in a soak, which has the machine to itself; else five times that, since the
    /// other tests run beside it.
    public static func seconds(_ promised: Double) -> Double { isOn ? promised : 5 * promised }

    /// The same in nanoseconds, as `TestClock.now` counts.
    public static func nanoseconds(_ promised: Double) -> UInt64 { UInt64(seconds(promised) * 1e9) }

    /// The whole number in a soak, the reduced one else.
    public static func count(_ whole: Int, reduced: Int) -> Int { isOn ? whole : reduced }

    /// How long the soak of all attacks on isolation lasts: `POSTRIDER_SOAK_SECONDS`, one hour without it.
    public static let stormSeconds =
        unsafe getenv("POSTRIDER_SOAK_SECONDS").flatMap { unsafe Double(String(cString: $0)) } ?? 3_600

    /// Of the storms: each is another course of things.
    public static let stormSeeds: [UInt64] = isOn ? Array(1...20) : [1, 2]
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How often the long tests go round: `make test` is for every change, `make soak` runs the lists whole.
public enum Soak {
    /// Whether the environment says `POSTRIDER_SOAK=1`.
    public static let isOn = unsafe getenv("POSTRIDER_SOAK").map { unsafe String(cString: $0) } == "1"

    /// The whole number in a soak, the reduced one else.
    public static func count(_ whole: Int, reduced: Int) -> Int { isOn ? whole : reduced }
}

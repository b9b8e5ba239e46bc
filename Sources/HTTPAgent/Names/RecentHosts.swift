// SPDX-License-Identifier: Apache-2.0

/// The hosts that were called lately. Each host has one of `places` places, and a later host with the same place
/// replaces it.
struct RecentHosts {
    /// 32 KiB. At 900 new hosts per second, a host is remembered for 18 s on average.
    private static let places = 16_384
    /// For each place 16 bits of the hash of its last host; 0: none.
    private var marks: [UInt16] = []

    /// Whether the host was called lately. It counts as called from now on.
    mutating func remember(_ host: String, port: Int) -> Bool {
        if marks.isEmpty { marks = Array(repeating: 0, count: Self.places) }
        // The hash differs in each process, so an attacker cannot choose hosts for a certain place.
        var hasher = Hasher()
        hasher.combine(host)
        hasher.combine(port)
        let hash = UInt(bitPattern: hasher.finalize())
        let place = Int(hash % UInt(Self.places))
        let mark = UInt16(truncatingIfNeeded: hash >> 32) | 1
        if marks[place] == mark { return true }
        marks[place] = mark
        return false
    }
}

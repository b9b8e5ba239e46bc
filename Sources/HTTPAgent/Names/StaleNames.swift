// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// The names whose addresses may have changed.
///
/// libcurl keeps the addresses of a name for 60 s, even if they fail. All five attempts of a job would then use the old
/// address.
///
/// A shorter time for all names would be expensive. Until the first answer arrives, each call would start a look-up
/// with its own thread, and again after each expiry. So only a name whose calls fail before their request is looked up
/// again, at most once a second for all of its calls.
struct StaleNames {
    /// How long libcurl keeps addresses, in seconds.
    static let usualAge = Int(CCURL_ADDRESS_AGE)
    private static let most = 1_024
    /// The last such failure of each name, in seconds since 1970, as libcurl counts.
    private var failures: [String: Int64] = [:]
    /// The last such failure of all names that did not fit into the list.
    private var others: Int64?

    /// Records that no server, or a wrong one, answered at the name's address.
    mutating func doubt(_ name: String, now: Int64) {
        if failures.count >= Self.most, failures[name] == nil {
            failures.removeAll()
            others = now
        }
        failures[name] = now
    }

    /// How old an address of this name may be, in seconds: no older than the last failure, and at least a second.
    mutating func age(of name: String, now: Int64) -> Int {
        if failures.isEmpty, others == nil { return Self.usualAge }
        guard let failure = failures[name] ?? others else { return Self.usualAge }
        let age = now - failure
        if age < Self.usualAge { return Int(max(1, age)) }
        if failures.removeValue(forKey: name) == nil { others = nil }
        return Self.usualAge
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Which names may have moved. libcurl keeps the addresses of a name for 60 s, whatever comes of them: all five tries
/// of a job would go to the one that was left.
///
/// A shorter time for all would cost a look-up, each with a thread of its own, for every call that begins until the
/// first of them has its answer, and again when that time is over. So only a name whose calls fail before their request
/// is looked up anew, once a second at most, by all of its calls together.
struct StaleNames {
    /// How long libcurl keeps addresses, in seconds.
    static let usualAge = Int(CCURL_ADDRESS_AGE)
    private static let most = 1_024
    /// Where a call last failed so: seconds since 1970, as libcurl counts.
    private var failures: [String: Int64] = [:]
    /// The same for names that are in no list, there being too many.
    private var others: Int64?

    /// A call has found nobody at the name's address, or not whom it looked for.
    mutating func doubt(_ name: String, now: Int64) {
        if failures.count >= Self.most, failures[name] == nil {
            failures.removeAll()
            others = now
        }
        failures[name] = now
    }

    /// How old an address of this name may be, in seconds: no older than the failure, and a second in any case.
    mutating func age(of name: String, now: Int64) -> Int {
        if failures.isEmpty, others == nil { return Self.usualAge }
        guard let failure = failures[name] ?? others else { return Self.usualAge }
        let age = now - failure
        if age < Self.usualAge { return Int(max(1, age)) }
        if failures.removeValue(forKey: name) == nil { others = nil }
        return Self.usualAge
    }
}

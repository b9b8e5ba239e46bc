// SPDX-License-Identifier: Apache-2.0

/// What a call changed in the jar that it was given; another call may have changed the same jar meanwhile.
public struct CookieChanges: Equatable, Sendable {
    /// The lines that are new or differ, in Netscape's file format.
    public var set: [String]
    /// The lines, as they were given, that are not in the jar any more; of a cookie that was renewed the old one too.
    public var gone: [String]

    /// What tells two jars apart; nil if nothing does.
    ///
    /// libcurl writes a cookie that nobody touched as it was given, expiry included.
    public init?(from given: [String], to jar: [String]) {
        // By bytes: texts that are equal to Unicode are not so to a server.
        let before = Set(given.map { Array($0.utf8) })
        let after = Set(jar.map { Array($0.utf8) })
        set = jar.filter { !before.contains(Array($0.utf8)) }
        gone = given.filter { !after.contains(Array($0.utf8)) }
        if set.isEmpty, gone.isEmpty { return nil }
    }
}

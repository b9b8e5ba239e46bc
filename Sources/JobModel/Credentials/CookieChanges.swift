// SPDX-License-Identifier: Apache-2.0

/// The changes of a call in its cookie jar. Another call may have changed the same jar meanwhile.
public struct CookieChanges: Equatable, Sendable {
    /// The new or changed lines, in Netscape's file format.
    public var set: [String]
    /// The given lines that are missing now. The old line of a renewed cookie is among them.
    public var gone: [String]

    /// The difference of two jars; nil if they are equal.
    ///
    /// libcurl writes an unchanged cookie exactly as it was given, expiry included.
    public init?(from given: [String], to jar: [String]) {
        // Lines are compared by bytes: a server distinguishes texts that are equal under Unicode.
        let before = Set(given.map { Array($0.utf8) })
        let after = Set(jar.map { Array($0.utf8) })
        set = jar.filter { !before.contains(Array($0.utf8)) }
        gone = given.filter { !after.contains(Array($0.utf8)) }
        if set.isEmpty, gone.isEmpty { return nil }
    }
}

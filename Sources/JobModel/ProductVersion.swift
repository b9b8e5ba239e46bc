// SPDX-License-Identifier: Apache-2.0

/// The version of this program. Workers register with it, and migrations record it.
public struct ProductVersion: Comparable, Sendable, CustomStringConvertible {
    /// The version of this source.
    public static let current = ProductVersion(major: 0, minor: 1, patch: 0)

    /// Three numbers by the rules of Semantic Versioning.
    public let major, minor, patch: Int

    /// A version with these numbers.
    public init(major: Int, minor: Int, patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads `1.2.3`; nil for anything else.
    public init?(_ text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else {
            return nil
        }
        self.init(major: major, minor: minor, patch: patch)
    }

    /// For example `0.1.0`.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Compares major, then minor, then patch.
    public static func < (left: ProductVersion, right: ProductVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A text file in the repository that a test compares with the product, one fact per line.
///
/// A change of the product then shows as a change of the file in review.
///
/// ```
/// let list = KeptList("Tests/PublicSurfaceTests/Lists/exit-codes.txt")
/// #expect(try list.difference(from: lines) == [])
/// ```
public struct KeptList {
    private let path: String

    /// The list in the file at this path, relative to the top folder of the project.
    public init(_ path: String) {
        self.path = path
    }

    /// Compares the file with `lines`: `- LINE` for each line only in the file, `+ LINE` for each new line.
    ///
    /// The order of `lines` does not matter. If the environment variable `POSTRIDER_WRITE_LISTS` is set, the function
    /// first writes `lines` to the file.
    ///
    /// - Throws: the error of Foundation if the file cannot be read or written.
    public func difference(from lines: [String]) throws -> [String] {
        let file = URL(fileURLWithPath: try ProjectFolder.path()).appendingPathComponent(path)
        let sorted = lines.sorted()
        if ProcessInfo.processInfo.environment["POSTRIDER_WRITE_LISTS"] != nil {
            try (sorted.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        return Self.changes(from: kept, to: sorted)
    }

    /// The lines that only one of two texts has: `- LINE` for the first text, `+ LINE` for the second.
    public static func changes(from old: [String], to new: [String]) -> [String] {
        new.difference(from: old).map { change in
            switch change {
            case .remove(_, let line, _): "- \(line)"
            case .insert(_, let line, _): "+ \(line)"
            }
        }
    }
}

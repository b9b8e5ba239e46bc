// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A text file in the repository that a test compares with what the product does, one fact a line.
///
/// A change of the product then shows as a change of the file in review.
///
/// ```
/// let list = KeptList("Tests/PublicSurfaceTests/Lists/exit-codes.txt")
/// #expect(try list.difference(from: lines) == [])
/// ```
public struct KeptList {
    private let path: String

    /// The list in the file at this path, which starts at the top folder of the project.
    public init(_ path: String) {
        self.path = path
    }

    /// What the file and `lines` do not have in common: `- LINE` for a line that only the file has, `+ LINE` for one that only `lines` has.
    ///
    /// The order of lines counts for nothing. With the environment variable `POSTRIDER_WRITE_LISTS` set, `lines` become the new file first.
    ///
    /// - Throws: the error of Foundation if the file cannot be read or written.
    public func difference(from lines: [String]) throws -> [String] {
        let file = URL(fileURLWithPath: try ProjectFolder.path()).appendingPathComponent(path)
        let sorted = lines.sorted()
        if ProcessInfo.processInfo.environment["POSTRIDER_WRITE_LISTS"] != nil {
            try (sorted.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        var only: [String] = []
        for change in sorted.difference(from: kept) {
            switch change {
            case .remove(_, let line, _): only.append("- \(line)")
            case .insert(_, let line, _): only.append("+ \(line)")
            }
        }
        return only
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CMigrations

/// One SQL file of the folder `migrations`, as the binary carries it.
public struct MigrationFile: Equatable, Sendable {
    /// How a file is applied.
    public enum Kind: Equatable, Sendable {
        /// Once, in the order of the numbers; never changes after a release.
        case numbered
        /// Again whenever it changes, after the numbered files.
        case function
        /// Again whenever it changes, after the functions.
        case view
    }

    /// The path inside the folder: `0001_settings.sql`, `functions/queue/claim.sql`. This is the identity in the
    /// database.
    public let name: String
    /// How it is applied.
    public let kind: Kind
    /// The text, UTF-8.
    public let bytes: [UInt8]

    /// A file; the kind follows from the folder in its name.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        kind = name.hasPrefix("functions/") ? .function : name.hasPrefix("views/") ? .view : .numbered
    }
}

/// All files of the folder, embedded by `CMigrations`.
public enum Migrations {
    /// Numbered files, functions, views, each in the order of their names; `-- after:` headers are looked at by the
    /// migrator.
    ///
    /// Copied anew each time, and the pages they come from are let go: kept, they are 1.4 MB for the life of a worker,
    /// which needs them once.
    public static var all: [MigrationFile] {
        defer { cmigrations_rest() }
        let table = unsafe UnsafeBufferPointer(start: cmigrations_table(), count: cmigrations_count)
        return unsafe table.map { file in
            MigrationFile(
                name: unsafe String(cString: file.name),
                bytes: unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.length)))
        }
    }
}

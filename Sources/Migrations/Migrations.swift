// SPDX-License-Identifier: Apache-2.0

internal import CMigrations

/// One SQL file of the folder `migrations` in the binary.
public struct MigrationFile: Equatable, Sendable {
    /// How a file is applied.
    public enum Kind: Equatable, Sendable {
        /// Once, in the order of the numbers. It never changes after a release.
        case numbered
        /// After each change, after the numbered files.
        case function
        /// After each change, after the functions.
        case view
    }

    /// The path inside the folder: `0001_settings.sql`, `functions/queue/claim.sql`. It identifies the file in the
    /// database.
    public let name: String
    /// How it is applied.
    public let kind: Kind
    /// The text, UTF-8.
    public let bytes: [UInt8]

    /// A file. Its kind follows from the folder in its name.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        kind = name.hasPrefix("functions/") ? .function : name.hasPrefix("views/") ? .view : .numbered
    }
}

/// All files of the folder, which `CMigrations` embeds.
public enum Migrations {
    /// Numbered files, functions and views, each sorted by name. The migrator reads `-- after:` headers.
    ///
    /// Each call copies them and frees their pages. Kept, they would take 1.4 MB for the life of a worker, which needs
    /// them once.
    public static var all: [MigrationFile] {
        defer { cmigrations_release_pages() }
        let table = unsafe UnsafeBufferPointer(start: cmigrations_table(), count: cmigrations_count)
        return unsafe table.map { file in
            MigrationFile(
                name: unsafe String(cString: file.name),
                bytes: unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.length)))
        }
    }
}

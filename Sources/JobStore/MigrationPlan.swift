// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import Migrations

/// The difference between the files of a program and the history of a database. Pure.
public struct MigrationPlan: Equatable, Sendable {
    /// A row of `postrider.migrations`.
    public struct Applied: Equatable, Sendable {
        /// The name of the file.
        public var name: String
        /// SHA-256 of the applied text, in hex.
        public var checksum: String
        /// The version of the worker that applied it.
        public var workerVersion: String
        /// Whether workers that do not know the file must stop.
        public var isBreaking: Bool

        /// A row with its columns.
        public init(name: String, checksum: String, workerVersion: String, isBreaking: Bool) {
            self.name = name
            self.checksum = checksum
            self.workerVersion = workerVersion
            self.isBreaking = isBreaking
        }
    }

    /// The state of one file.
    public enum Standing: Equatable, Sendable {
        /// Applied with exactly this text.
        case applied
        /// Not applied yet.
        case pending
        /// A function or view that was applied with an older text.
        case stale
        /// A numbered file that was applied with another text, which is forbidden.
        case changed
        /// Applied with another text by a newer worker.
        case newer
        /// Only the database has it.
        case unknown
        /// Only the database has it, and it precedes the last known numbered file: an unreleased version applied it.
        case unreleased
    }

    /// Each file in the order of application, then the files that only the database has.
    public private(set) var entries: [(name: String, standing: Standing)] = []
    /// Whether an unknown file forbids this worker to run.
    private var isBroken = false

    /// Compares files and history.
    ///
    /// - Parameters:
    ///   - files: name and checksum of each file, in the order of application.
    ///   - applied: the history, in any order.
    ///   - version: the version of this program. A text that a later version applied is `newer`.
    public init(files: [(name: String, checksum: String)], applied: [Applied], version: String) {
        let history = Dictionary(applied.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for file in files {
            entries.append((file.name, MigrationPlan.standing(file, history[file.name], version)))
        }
        let known = Set(files.map(\.name))
        // A release adds numbered files only after the last one.
        let last = files.map(\.name).filter(MigrationPlan.isNumbered).max() ?? ""
        for row in applied.sorted(by: { $0.name < $1.name }) where !known.contains(row.name) {
            let isNumbered = MigrationPlan.isNumbered(row.name)
            if isNumbered && row.name < last {
                entries.append((row.name, .unreleased))
                continue
            }
            // A function that this version has dropped does not prove a newer version.
            if !isNumbered && !MigrationPlan.isNewer(row.workerVersion, than: version) { continue }
            entries.append((row.name, .unknown))
            isBroken = isBroken || (isNumbered && row.isBreaking)
        }
    }

    /// The names with this standing.
    public func names(_ standing: Standing) -> [String] {
        entries.filter { $0.standing == standing }.map(\.name)
    }

    /// The permission that follows for this worker.
    public var state: SchemaState {
        let unreleased = names(.unreleased)
        if !unreleased.isEmpty { return .unreleased(unreleased) }
        let changed = names(.changed)
        if !changed.isEmpty { return .changed(changed) }
        if isBroken { return .newer(names(.unknown)) }
        let behind = entries.filter { $0.standing == .pending || $0.standing == .stale }.map(\.name)
        // Behind and ahead at once: two versions have migrated in turn. Neither may run.
        if !behind.isEmpty { return isAhead ? .newer(names(.unknown) + names(.newer)) : .older(behind) }
        return .current
    }

    /// Whether a newer worker has migrated, breaking or not. Then this one does not change the schema.
    public var isAhead: Bool { entries.contains { $0.standing == .unknown || $0.standing == .newer } }

    /// Compares the entries.
    public static func == (left: MigrationPlan, right: MigrationPlan) -> Bool {
        left.isBroken == right.isBroken && left.entries.elementsEqual(right.entries, by: ==)
    }

    private static func standing(
        _ file: (name: String, checksum: String), _ row: Applied?, _ version: String
    ) -> Standing {
        guard let row else { return .pending }
        if row.checksum == file.checksum { return .applied }
        if isNumbered(file.name) { return .changed }
        return isNewer(row.workerVersion, than: version) ? .newer : .stale
    }

    private static func isNumbered(_ name: String) -> Bool {
        MigrationFile(name: name, bytes: []).kind == .numbered
    }

    private static func isNewer(_ text: String, than version: String) -> Bool {
        guard let one = ProductVersion(text), let other = ProductVersion(version) else { return false }
        return one > other
    }
}

/// Whether this worker may run on a database.
public enum SchemaState: Equatable, Sendable {
    /// The schema is complete. A newer worker may have added compatible files.
    case current
    /// The table `postrider.migrations` is missing.
    case missing
    /// These files are not applied yet.
    case older([String])
    /// A newer worker applied these files.
    case newer([String])
    /// These numbered files were applied with another text.
    case changed([String])
    /// An unreleased version applied these numbered files.
    case unreleased([String])

    /// One line with the remedy; nil for `current`.
    public var advice: String? {
        switch self {
        case .current: nil
        case .missing: "the schema postrider is missing; run: worker migrate"
        case .older(let names):
            "the schema is older than this worker (\(SchemaState.some(names)) to apply); run: worker migrate"
        case .newer(let names):
            "the schema is newer than this worker (it does not know \(SchemaState.some(names))); run the newer worker"
        case .changed(let names):
            "the database has another version of \(SchemaState.some(names)) than this worker; "
                + "use the worker that made the schema, or migrate an empty database"
        case .unreleased(let names):
            "an unreleased version made this schema (\(SchemaState.some(names))), so it cannot be upgraded; "
                + "create a new database and run: worker migrate"
        }
    }

    private static func some(_ names: [String]) -> String {
        names.count <= 2 ? names.joined(separator: ", ") : "\(names[0]) and \(names.count - 1) more"
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds the server's programs.
public struct ServerBinaries: Equatable, Sendable {
    /// The directory of `initdb` and `postgres`.
    public var directory: String

    /// Searches in this order: `POSTRIDER_PG_BIN`, `pg_config --bindir`, the newest `/usr/lib/postgresql/*/bin`, PATH.
    ///
    /// - Throws: `.notInstalled`, with the remedy.
    public static func find() throws(ClusterError) -> ServerBinaries {
        var candidates: [String] = []
        if let chosen = variable("POSTRIDER_PG_BIN") {
            guard isComplete(chosen) else {
                throw ClusterError(.notInstalled, "POSTRIDER_PG_BIN=\(chosen) holds no initdb and postgres")
            }
            return ServerBinaries(directory: chosen)
        }
        // `pg_config` is often installed without a server, since it belongs to libpq-dev.
        if let answer = try? ChildProcess.run(["pg_config", "--bindir"]), answer.status == 0 {
            candidates.append(String(answer.output.prefix { $0 != "\n" }))
        }
        candidates += packaged()
        candidates += variable("PATH")?.split(separator: ":").map(String.init) ?? []
        guard let found = candidates.first(where: isComplete) else {
            throw ClusterError(
                .notInstalled,
                "PostgreSQL's server programs are not installed: apt-get install postgresql, "
                    + "or set POSTRIDER_PG_BIN to the directory that holds initdb")
        }
        return ServerBinaries(directory: found)
    }

    /// The path of one program.
    package func path(_ program: String) -> String { "\(directory)/\(program)" }

    private static func isComplete(_ directory: String) -> Bool {
        ["initdb", "postgres"].allSatisfy { unsafe access("\(directory)/\($0)", X_OK) == 0 }
    }

    /// The directories of Debian's packages, newest version first.
    private static func packaged() -> [String] {
        let root = "/usr/lib/postgresql"
        guard let stream = unsafe opendir(root) else { return [] }
        defer { unsafe closedir(stream) }
        var versions: [Int] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let version = Int(name) { versions.append(version) }
        }
        return versions.sorted(by: >).map { "\(root)/\($0)/bin" }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}

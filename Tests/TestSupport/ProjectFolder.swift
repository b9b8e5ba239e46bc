// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The folder of the package, and the tools that its setup has installed there.
public enum ProjectFolder {
    /// The first folder above the built program that holds the package.
    public static func path() throws -> String {
        var parts = WorkerProcess.path.split(separator: "/")
        while !parts.isEmpty {
            parts.removeLast()
            let folder = parts.map { "/" + $0 }.joined()
            if unsafe access(folder + "/Package.swift", F_OK) == 0 { return folder }
        }
        throw TestFault(description: "no Package.swift above \(WorkerProcess.path)")
    }

    /// The text of each Swift file below `Sources/FOLDER`, in the order of the paths. Without a folder, all of
    /// `Sources`.
    public static func swiftSources(_ folder: String = "") throws -> [String] {
        let top = try path() + "/Sources/" + folder
        let paths = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }.sorted()
            .map { try String(contentsOfFile: "\(top)/\($0)", encoding: .utf8) }
    }

    /// The Python interpreter of `make setup`, with the packages that tests use.
    public static func python() throws -> String { try path() + "/.postrider/venv/bin/python" }
}

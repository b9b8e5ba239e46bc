// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the package lies, and what its setup has installed there.
public enum ProjectFolder {
    /// The first folder above the built program that holds the package.
    public static func path() throws -> String {
        var parts = WorkerProcess.path.split(separator: "/")
        while !parts.isEmpty {
            parts.removeLast()
            let folder = parts.map { "/" + $0 }.joined()
            if unsafe access(folder + "/Package.swift", F_OK) == 0 { return folder }
        }
        throw TestClock.Timeout(description: "no Package.swift above \(WorkerProcess.path)")
    }

    /// The interpreter of `make setup`, with the packages that tests use.
    public static func python() throws -> String { try path() + "/.postrider/venv/bin/python" }
}

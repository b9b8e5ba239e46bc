// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The memory that this process may use: the machine's memory or the limit of its control group. The smaller one
/// counts.
enum MachineMemory {
    /// The bytes; nil if neither can be read.
    ///
    /// - Parameter root: replaces `/` in tests.
    static func bytes(root: String = "") -> Int? {
        let machine = read("\(root)/proc/meminfo").flatMap(total)
        let groups = read("\(root)/proc/self/cgroup") ?? ""
        let limits = limitFiles(groups).compactMap { read("\(root)\($0)") }.compactMap(limit)
        return (limits + [machine].compactMap { $0 }).min()
    }

    /// `MemTotal` of `/proc/meminfo`, which counts in KiB.
    static func total(meminfo: String) -> Int? {
        let line = meminfo.split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// The limit in `memory.max` (version 2) or `memory.limit_in_bytes` (version 1); nil: no limit.
    static func limit(text: String) -> Int? {
        let word = text.split(separator: "\n").first.map(String.init) ?? ""
        // Without a limit, version 1 contains 2^63, rounded down to a page.
        return Int(word).flatMap { $0 < 1 << 60 ? $0 : nil }
    }

    /// The files that may contain a limit: for the process's group and all groups above it. Inside a container the path
    /// is often the path on the host, and the container's own limit is at the mount point.
    static func limitFiles(_ groups: String) -> [String] {
        var files: [String] = []
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isUnified = fields[0] == "0" && fields[1].isEmpty
            guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
            let mount = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
            let name = isUnified ? "memory.max" : "memory.limit_in_bytes"
            var steps = fields[2].split(separator: "/")
            files.append("\(mount)/\(name)")
            while !steps.isEmpty {
                files.append("\(mount)/\(steps.joined(separator: "/"))/\(name)")
                steps.removeLast()
            }
        }
        return files
    }

    private static func read(_ path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

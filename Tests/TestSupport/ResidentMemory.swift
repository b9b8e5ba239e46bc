// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The resident memory of processes; 0 if the kernel's file cannot be read.
public enum ResidentMemory {
    /// The bytes of this process, from the second number in `/proc/self/statm`.
    public static var bytes: Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }

    /// The bytes of another process, from `VmRSS`.
    public static func bytes(of process: Int32) -> Int { status("VmRSS:", of: process) }

    /// The peak of another process in bytes, from `VmHWM`.
    public static func peak(of process: Int32) -> Int { status("VmHWM:", of: process) }

    /// A line of `/proc/PID/status`, which counts in KiB, in bytes.
    private static func status(_ name: String, of process: Int32) -> Int {
        guard let file = unsafe fopen("/proc/\(process)/status", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        let words = lines.first { $0.hasPrefix(name) }?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) << 10 : 0
    }
}

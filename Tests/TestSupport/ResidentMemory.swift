// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How much of this process lies in memory.
public enum ResidentMemory {
    /// Bytes, from the second number in `/proc/self/statm`.
    public static var bytes: Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}

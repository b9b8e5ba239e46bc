// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How much memory this process has at most held between two moments.
struct PeakMemory {
    private let before: Int

    /// Begins: the peak so far is forgotten, where the kernel lets it be. C: `/proc/self/clear_refs`.
    init() {
        let file = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
            unsafe write(file, "5", 1)
            close(file)
        }
        before = PeakMemory.bytes(of: "VmRSS:")
    }

    /// By how many bytes the peak lies above what was held at the beginning; too much where a peak before it could not
    /// be forgotten, never too little.
    var growth: Int { max(0, PeakMemory.bytes(of: "VmHWM:") - before) }

    /// A line of `/proc/self/status`, which counts in KiB.
    private static func bytes(of name: String) -> Int {
        guard let file = unsafe fopen("/proc/self/status", "re") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            let words = text.dropFirst(name.count).split { $0 == " " || $0 == "\t" || $0 == "\n" }
            return words.first.flatMap { Int($0) }.map { $0 << 10 } ?? 0
        }
        return 0
    }
}

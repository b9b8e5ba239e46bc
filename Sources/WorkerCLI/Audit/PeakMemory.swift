// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Measures the peak memory of this process between two moments.
struct PeakMemory {
    private let before: Int

    /// Begins: resets the peak if the kernel allows it. C: `/proc/self/clear_refs`.
    init() {
        let file = unsafe open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
            unsafe write(file, "5", 1)
            close(file)
        }
        before = PeakMemory.bytes(of: "VmRSS:")
    }

    /// By how many bytes the peak exceeds the memory at the beginning. If the peak could not be reset, the result may
    /// be too high, but never too low.
    var growth: Int { max(0, PeakMemory.bytes(of: "VmHWM:") - before) }

    /// The value of a line of `/proc/self/status`, in bytes. The file counts in KiB.
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

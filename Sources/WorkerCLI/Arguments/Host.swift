// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The machine that runs this program.
enum Host {
    /// Its name in the kernel; `localhost` without one. C: `gethostname`.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "localhost" : String(decoding: bytes, as: UTF8.self)
    }
}

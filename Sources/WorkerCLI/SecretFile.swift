// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files of keys and secrets, which are small.
enum SecretFile {
    /// More is some other file.
    private static let limit = 65_536

    /// The text of a file, up to a limit; nil if it cannot be read.
    static func contents(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

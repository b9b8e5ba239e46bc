// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a secret comes from: a file that a flag names, or the environment. Never the command line, which every user of
/// the machine can read.
struct SecretSource: Sendable {
    /// The flag; its value is a path.
    let flag: Flag
    /// Holds the secret where no file is named.
    let variable: String
    /// What the secret is, for error lines: `32 bytes in Base64`.
    let content: String

    /// More is some other file.
    private static let limit = 65_536

    /// A flag, and the variable of its secret.
    init(
        name: String, variable: String, example: String, fallback: String, content: String, meaning: String
    ) {
        flag = Flag(
            name: name, kind: .text, placeholder: "FILE", example: example, fallback: fallback, meaning: meaning)
        self.variable = variable
        self.content = content
    }

    /// The secret as `parse` understands it; nil if none is given.
    ///
    /// - Parameter reason: why a text is none, without a word of it.
    /// - Throws: `usage` for a file that cannot be read, and for what `parse` refuses.
    func read<Secret, Refusal>(
        _ arguments: Arguments, _ parse: (String) throws(Refusal) -> Secret, reason: (Refusal) -> String
    ) throws(CommandError) -> Secret? {
        let text: String
        let place: String
        if let path = arguments.text(flag.name) {
            place = arguments.place(of: flag)
            // The path is not quoted: it is the secret itself where somebody took the one for the other.
            guard let contents = SecretSource.contents(of: path) else {
                let reason = "its file cannot be read: \(Terminal.reason(errno))"
                throw .usage(place, reason, "give the path of a file that holds \(content)")
            }
            text = contents
        } else {
            guard let value = arguments.environment[variable], !value.isEmpty else { return nil }
            place = variable
            text = value
        }
        do throws(Refusal) {
            return try parse(text)
        } catch {
            throw .usage(place, reason(error), "give \(content)")
        }
    }

    /// The text of a file, up to a limit; nil if it cannot be read, with the reason in `errno`.
    private static func contents(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0 {
                let number = errno
                close(file)
                errno = number
                return nil
            }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        close(file)
        return String(decoding: bytes, as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The source of a secret: a file that a flag names, or the environment. Never the command line, which all users of the
/// machine can read.
struct SecretSource: Sendable {
    /// The flag, whose value is a path.
    let flag: Flag
    /// The variable with the secret, if no file is named.
    let variable: String
    /// The form of the secret for error lines, such as `32 bytes in Base64`.
    let content: String

    /// The most bytes of a file. No secret is that long.
    private static let limit = 65_536

    init(
        name: String, variable: String, example: String, fallback: String, content: String, meaning: String
    ) {
        flag = Flag(
            name: name, kind: .text, placeholder: "FILE", example: example, fallback: fallback, meaning: meaning)
        self.variable = variable
        self.content = content
    }

    /// The secret that `parse` returns; nil if none is given.
    ///
    /// - Parameter reason: why a text is refused, without quoting it.
    /// - Throws: `usage` for an unreadable file and for a text that `parse` refuses.
    func read<Secret, Refusal>(
        _ arguments: Arguments, _ parse: (String) throws(Refusal) -> Secret, reason: (Refusal) -> String
    ) throws(CommandError) -> Secret? {
        let text: String
        let place: String
        if let path = arguments.text(flag.name) {
            place = arguments.place(of: flag)
            // The path is not quoted: by mistake it may be the secret itself.
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

    /// The text of a file. Nil if it cannot be read, or if it is longer than `limit` (EFBIG); then `errno` has the
    /// reason.
    private static func contents(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 || bytes.count + count > limit {
                let number = count < 0 ? errno : EFBIG
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

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A directory for one test, with functions for its files. The object removes it at its end.
public final class TestFolder: Sendable {
    /// The directory's path.
    public let path: String

    /// Makes an empty directory that every user may enter.
    public init() throws {
        var template = [CChar]("/var/tmp/postrider-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw TestFault(description: "mkdtemp failed") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unsafe chmod(path, 0o755)
    }

    deinit {
        _ = try? ChildProcess.run(["rm", "-rf", path])
    }

    /// The path of a file in the directory.
    public func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file, with the directories above it.
    public func write(_ name: String, _ text: String) throws { try write(name, [UInt8](text.utf8)) }

    /// Writes a file, with the directories above it.
    public func write(_ name: String, _ bytes: [UInt8]) throws {
        _ = try ChildProcess.run([
            "mkdir", "-p", path(name).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 },
        ])
        let file = unsafe open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw TestFault(description: "\(name) cannot be written") }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            guard count > 0 else { throw TestFault(description: "\(name) cannot be written") }
            done += count
        }
    }

    /// The bytes of a file; nil if the file is missing.
    public func read(_ name: String) -> [UInt8]? {
        let file = unsafe open(path(name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// The size of a file; -1 if the file is missing.
    public func size(_ name: String) -> Int {
        var status = stat()
        return unsafe stat(path(name), &status) == 0 ? Int(status.st_size) : -1
    }

    /// The SHA-256 of a file, 64 hex digits, computed by coreutils.
    public func sha256(_ name: String) throws -> String {
        let (_, output) = try ChildProcess.run(["sha256sum", path(name)])
        return String(output.prefix(64))
    }

    /// Runs a shell script in the directory and returns its output.
    @discardableResult
    public func shell(_ script: String) throws -> String {
        let (status, output) = try ChildProcess.run(["/bin/sh", "-ec", "cd \(path)\n" + script])
        guard status == 0 else { throw TestFault(description: "\(script): \(output)") }
        return output
    }

    /// The names in a directory below it, including hidden ones.
    public func names(_ directory: String = ".") throws -> [String] {
        let (_, output) = try ChildProcess.run(["ls", "-A", path(directory)])
        return output.split(separator: "\n").map(String.init)
    }
}

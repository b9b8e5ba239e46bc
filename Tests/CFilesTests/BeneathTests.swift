// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import TestSupport
import Testing

/// Paths in jobs must stay below the files root.
struct BeneathTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("outside/secret", "secret")
        try folder.write("root/inside/text", "text")
        unsafe symlink("../../outside", folder.path("root/inside/out"))
        unsafe symlink("text", folder.path("root/inside/link"))
        unsafe symlink("/", folder.path("root/slash"))
        unsafe mkfifo(folder.path("root/fifo"), 0o600)
    }

    private func open(_ path: String, _ flags: Int32 = O_RDONLY, makesParents: Bool = false) -> Int32 {
        let root = unsafe cfiles_root_open(folder.path("root"))
        defer { close(root) }
        let number = unsafe cfiles_open_beneath(root, path, flags, 0o644, makesParents)
        if number >= 0 { close(number) }
        return min(number, 0)
    }

    /// Each path with the result of opening it.
    static let paths: [(String, Int32)] = [
        ("inside/text", 0), ("fifo", 0), ("inside/none", -ENOENT), ("new/deep/text", -ENOENT),
        ("inside/link", -ELOOP), ("inside/out/secret", -ELOOP), ("slash/etc/passwd", -ELOOP),
        ("../outside/secret", -EINVAL), ("inside/../../outside/secret", -EINVAL), ("/etc/passwd", -EINVAL),
        ("", -EINVAL), (".", -EINVAL), ("inside/./text", -EINVAL), ("inside//text", -EINVAL), ("inside/", -EINVAL),
        ("inside/text/more", -ENOTDIR),
    ]

    @Test(arguments: paths)
    func `a path opens only existing files below the root and follows no link`(path: String, expected: Int32) {
        #expect(open(path) == expected)
    }

    @Test func `a name or a path that is too long is refused`() {
        #expect(open(String(repeating: "a", count: 256)) == -EINVAL)
        #expect(open(String(repeating: "a/", count: 3_000) + "b") == -EINVAL)
    }

    @Test func `missing directories are created only below the root`() {
        #expect(open("new/deep/text", O_RDWR | O_CREAT, makesParents: true) == 0)
        #expect(unsafe access(folder.path("root/new/deep/text"), F_OK) == 0)
        #expect(open("inside/out/new/text", O_RDWR | O_CREAT, makesParents: true) == -ELOOP)
        #expect(unsafe access(folder.path("outside/new"), F_OK) != 0)
    }
}

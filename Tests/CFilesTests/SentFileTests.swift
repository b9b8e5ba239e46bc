// SPDX-License-Identifier: Apache-2.0
import CFiles
import TestSupport
import Testing

/// Files that are sent: the disk thread reads ahead, and the owner takes the bytes without waiting for the disk.
struct SentFileTests {
    private let disk: TestDisk
    private let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    init() throws {
        disk = try TestDisk()
        try disk.folder.write("a", bytes)
        try disk.folder.write("b", "hello")
    }

    /// Takes all bytes up to the end; nil if the file is lost before.
    private func take(_ file: OpaquePointer) throws -> [UInt8]? {
        var taken: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 50_000)
        var length: Int64 = 0
        repeat {
            try TestClock.wait(20, for: "bytes of the file") {
                unsafe length = cfiles_file_take(file, &piece, piece.count)
                return length != Int64(CFILES_WAIT)
            }
            if length > 0 { taken += piece[..<Int(length)] }
        } while length > 0
        return length == 0 ? taken : nil
    }

    @Test func `all bytes of a file are taken, also a second time`() throws {
        let file = unsafe try disk.file("a")
        defer { unsafe cfiles_file_free(file) }
        #expect(unsafe try disk.wait(file, for: CFILES_FILE_OPEN).size == 600_000)
        #expect(unsafe try take(file) == bytes)
        #expect(unsafe !cfiles_file_seek(file, 600_001))
        #expect(unsafe cfiles_file_seek(file, 0))
        #expect(unsafe try take(file) == bytes)
    }

    @Test func `the next file is read when the one before it was read`() throws {
        let first = unsafe try disk.file("a")
        defer { unsafe cfiles_file_free(first) }
        let second = unsafe try disk.file("b", isFirst: false)
        defer { unsafe cfiles_file_free(second) }
        unsafe cfiles_file_set_next(first, second)
        unsafe _ = try disk.wait(first, for: CFILES_FILE_OPEN)
        #expect(unsafe try !disk.wait(second, for: CFILES_FILE_OPEN).has_bytes)
        #expect(unsafe try take(first) == bytes)
        try TestClock.wait(20, for: "bytes of the second file") { unsafe cfiles_file_look(second).has_bytes }
        #expect(unsafe try take(second) == Array("hello".utf8))
    }

    @Test func `a file that changes after its opening is lost before its end`() throws {
        let file = unsafe try disk.file("a")
        defer { unsafe cfiles_file_free(file) }
        unsafe _ = try disk.wait(file, for: CFILES_FILE_OPEN)
        try disk.folder.shell("printf more >> a")
        #expect(unsafe try take(file) == nil)
    }

    @Test func `a missing file and a folder are refused`() throws {
        try disk.folder.shell("mkdir folder")
        for (path, reason) in [("none", CFILES_FILE_ABSENT), ("folder", CFILES_FILE_KIND)] {
            let file = unsafe try disk.file(path)
            defer { unsafe cfiles_file_free(file) }
            #expect(unsafe try disk.wait(file, for: CFILES_FILE_REFUSED).refusal == reason)
        }
    }
}

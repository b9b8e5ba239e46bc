// SPDX-License-Identifier: Apache-2.0
import CFiles
import TestSupport
import Testing

/// Files that are received: the disk thread writes them, and a note counts their durable bytes.
struct PartTests {
    private let disk: TestDisk

    init() throws { disk = try TestDisk() }

    private func fill(_ part: OpaquePointer, _ text: String, note: String? = "etag 1\n") {
        #expect(unsafe cfiles_part_begin(part, 0, note))
        #expect(unsafe cfiles_part_append(part, text, text.utf8.count))
    }

    @Test func `a finished part has its final name, and its note is gone`() throws {
        let part = unsafe try disk.part("deep/x")
        defer { unsafe cfiles_part_free(part) }
        #expect(unsafe try disk.wait(part, for: CFILES_PART_OPEN).found == 0)
        unsafe fill(part, "hello")
        unsafe cfiles_part_finish(part)
        #expect(unsafe try disk.wait(part, for: CFILES_PART_DONE).durable == 5)
        #expect(disk.folder.read("deep/x") == Array("hello".utf8))
        #expect(try disk.folder.names("deep") == ["x"])
    }

    @Test func `the next opening finds the bytes and the text of a suspended part`() throws {
        let part = unsafe try disk.part("x")
        unsafe _ = try disk.wait(part, for: CFILES_PART_OPEN)
        unsafe fill(part, "hello")
        unsafe cfiles_part_suspend(part)
        unsafe _ = try disk.wait(part, for: CFILES_PART_SUSPENDED)
        unsafe cfiles_part_free(part)
        let next = unsafe try disk.part("x")
        defer { unsafe cfiles_part_free(next) }
        let status = unsafe try disk.wait(next, for: CFILES_PART_OPEN)
        #expect(unsafe status.found == 5)
        #expect(unsafe status.text.map { unsafe String(cString: $0) } == "etag 1\n")
    }

    @Test func `a part that another process writes is refused with the name of the holder`() throws {
        let part = unsafe try disk.part("x")
        defer { unsafe cfiles_part_free(part) }
        unsafe _ = try disk.wait(part, for: CFILES_PART_OPEN)
        let other = try TestDisk(in: disk.folder, holder: "test:2")
        let second = unsafe try other.part("x")
        defer { unsafe cfiles_part_free(second) }
        let status = unsafe try other.wait(second, for: CFILES_PART_FAILED)
        #expect(unsafe status.stage == CFILES_STAGE_LOCK)
        #expect(unsafe String(cString: status.holder) == "test:1")
    }

    @Test func `a part with another hash is removed`() throws {
        let part = unsafe try disk.part("x", sha256: [UInt8](repeating: 1, count: 32))
        defer { unsafe cfiles_part_free(part) }
        unsafe _ = try disk.wait(part, for: CFILES_PART_OPEN)
        unsafe fill(part, "hello")
        unsafe cfiles_part_finish(part)
        #expect(unsafe try disk.wait(part, for: CFILES_PART_FAILED).stage == CFILES_STAGE_CHECKSUM)
        #expect(try disk.folder.names() == [])
    }

    @Test func `bytes without room are refused, and the status reports room later`() throws {
        let part = unsafe try disk.part("x")
        defer { unsafe cfiles_part_free(part) }
        unsafe _ = try disk.wait(part, for: CFILES_PART_OPEN)
        #expect(unsafe cfiles_part_begin(part, 0, nil))
        let bytes = [UInt8](repeating: 1, count: 256 * 1024 + 1)
        #expect(unsafe !cfiles_part_append(part, bytes, bytes.count))
        #expect(unsafe cfiles_part_look(part).has_room)
        #expect(unsafe cfiles_part_append(part, bytes, bytes.count - 1))
        #expect(unsafe !cfiles_part_look(part).has_room)
    }
}

// SPDX-License-Identifier: Apache-2.0
import CFiles
import TestSupport
import Testing

/// A disk thread with a folder of its own.
@safe final class TestDisk {
    let folder: TestFolder
    private let handle: OpaquePointer

    init(in folder: TestFolder? = nil, holder: String = "test:1") throws {
        let folder = try folder ?? TestFolder()
        self.folder = folder
        unsafe handle = try #require(unsafe cfiles_disk_create(folder.path, holder))
    }

    deinit { unsafe cfiles_disk_destroy(handle) }

    /// Begins to open a part. The caller frees it.
    func part(_ path: String, sha256: [UInt8]? = nil) throws -> OpaquePointer {
        unsafe try #require(unsafe cfiles_part_open(handle, path, sha256))
    }

    /// Begins to open a file. The caller frees it.
    func file(_ path: String, isFirst: Bool = true) throws -> OpaquePointer {
        unsafe try #require(unsafe cfiles_file_open(handle, path, isFirst))
    }

    /// Waits until a part has a state, and returns its status.
    func wait(_ part: OpaquePointer, for state: cfiles_part_state) throws -> cfiles_part_status {
        try TestClock.wait(20, for: "state \(state.rawValue) of the part") {
            unsafe cfiles_part_look(part).state == state
        }
        return unsafe cfiles_part_look(part)
    }

    /// Waits until a file has a state, and returns its status.
    func wait(_ file: OpaquePointer, for state: cfiles_file_state) throws -> cfiles_file_status {
        try TestClock.wait(20, for: "state \(state.rawValue) of the file") {
            unsafe cfiles_file_look(file).state == state
        }
        return unsafe cfiles_file_look(file)
    }
}

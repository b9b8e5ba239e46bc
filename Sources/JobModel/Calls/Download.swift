// SPDX-License-Identifier: Apache-2.0

/// The file that receives an answer's body, by `download_to` and `sha256`.
///
/// A value has the size of a pointer, so calls without a download stay small.
public struct Download: Equatable, Sendable {
    private final class Storage: Sendable {
        let path: String
        let sha256: [UInt8]?
        let okStatuses: StatusRanges
        let maxBytes: Int64?

        init(path: String, sha256: [UInt8]?, okStatuses: StatusRanges, maxBytes: Int64?) {
            self.path = path
            self.sha256 = sha256
            self.okStatuses = okStatuses
            self.maxBytes = maxBytes
        }
    }

    private let storage: Storage

    /// A download to `path`. No argument is checked here.
    public init(
        path: String, sha256: [UInt8]? = nil, okStatuses: StatusRanges = .success, maxBytes: Int64? = nil
    ) {
        storage = Storage(path: path, sha256: sha256, okStatuses: okStatuses, maxBytes: maxBytes)
    }

    /// The path relative to the worker's files root. Its parts are names, never `.` or `..`.
    public var path: String { storage.path }
    /// The expected SHA-256 of the whole file, 32 bytes; nil: not checked.
    public var sha256: [UInt8]? { storage.sha256 }
    /// The statuses whose body goes to the file. Other bodies stay in the answer.
    public var okStatuses: StatusRanges { storage.okStatuses }
    /// The largest file in bytes; nil: any. `CallLimits.maxResponseBytes` limits other bodies only.
    public var maxBytes: Int64? { storage.maxBytes }

    /// Whether both describe the same file with the same checks.
    public static func == (one: Download, other: Download) -> Bool {
        one.storage === other.storage
            || one.path == other.path && one.sha256 == other.sha256 && one.okStatuses == other.okStatuses
                && one.maxBytes == other.maxBytes
    }
}

/// The progress of a download over all its attempts.
public struct DownloadProgress: Equatable, Sendable {
    /// The bytes on disk, from the file's first byte on. After an attempt has ended, they survive a power failure.
    public var bytesDone: Int64
    /// The size of the whole file; nil if the server has not said it.
    public var bytesTotal: Int64?
    /// How many bytes this attempt added to the file. 0 if it started again and got no further.
    public var gained: Int64
    /// Whether the whole file is in its place. The status of the last answer does not matter: 206 after a resume, 416
    /// if the last byte was there already.
    public var isComplete: Bool

    /// Progress as the agent counts it.
    public init(bytesDone: Int64, bytesTotal: Int64?, gained: Int64, isComplete: Bool = false) {
        self.bytesDone = bytesDone
        self.bytesTotal = bytesTotal
        self.gained = gained
        self.isComplete = isComplete
    }
}

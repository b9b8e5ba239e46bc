// SPDX-License-Identifier: Apache-2.0

/// Where an answer's body goes instead of into the result, as `download_to` and `sha256` say.
///
/// A value is as large as a pointer, so that calls without one carry nothing for it.
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

    /// A download to `path`; nothing is checked here.
    public init(
        path: String, sha256: [UInt8]? = nil, okStatuses: StatusRanges = .success, maxBytes: Int64? = nil
    ) {
        storage = Storage(path: path, sha256: sha256, okStatuses: okStatuses, maxBytes: maxBytes)
    }

    /// Relative to the worker's files root; the parts between slashes are names, never `.` or `..`.
    public var path: String { storage.path }
    /// What the whole file must hash to, 32 bytes; nil: not checked.
    public var sha256: [UInt8]? { storage.sha256 }
    /// Which statuses write to the file; the body of any other stays an ordinary body.
    public var okStatuses: StatusRanges { storage.okStatuses }
    /// The largest file in bytes; nil: any. `CallLimits.maxResponseBytes` holds for other bodies alone.
    public var maxBytes: Int64? { storage.maxBytes }

    /// Whether both ask for the same file in the same way.
    public static func == (one: Download, other: Download) -> Bool {
        one.storage === other.storage
            || one.path == other.path && one.sha256 == other.sha256 && one.okStatuses == other.okStatuses
                && one.maxBytes == other.maxBytes
    }
}

/// How far a download came, over all its attempts.
public struct DownloadProgress: Equatable, Sendable {
    /// Bytes on disk, from the file's first on; of an attempt that ended they are there after a power failure, too.
    public var bytesDone: Int64
    /// The size of the whole file; nil: the server has not said.
    public var bytesTotal: Int64?
    /// By how much this attempt made the file longer than it found it; 0 if it began anew and came no farther.
    public var gained: Int64
    /// The whole file is in its place, whatever the status of the last answer: 206 after a resume, 416 when the last
    /// byte had been there already.
    public var isComplete: Bool

    /// Progress as the agent counts it.
    public init(bytesDone: Int64, bytesTotal: Int64?, gained: Int64, isComplete: Bool = false) {
        self.bytesDone = bytesDone
        self.bytesTotal = bytesTotal
        self.gained = gained
        self.isComplete = isComplete
    }
}

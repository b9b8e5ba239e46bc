// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The directory of the files that jobs name, with the thread that works on them.
final class FilesFolder {
    /// The directory; nil: jobs with files are refused.
    private let root: String?
    /// If the disk takes longer than this for one operation, the calls that wait for it end. Nanoseconds.
    private let diskLimit: Int64
    private let sweep: SweepTimer
    /// The thread; nil until the first call needs it.
    private(set) var disk: DiskThread?
    /// Whether the owner was asked to wait on the descriptor of the thread.
    private var isWatched = false

    /// A folder that asks `sweep` for the checks of a silent disk.
    init(root: String?, diskLimit: Duration, sweep: SweepTimer) {
        self.root = root
        self.diskLimit = Int64(diskLimit / .nanoseconds(1))
        self.sweep = sweep
    }

    /// Whether jobs may name files.
    var isAllowed: Bool { root != nil }

    /// The thread, which is started if necessary. Nil without a folder, memory or threads.
    func openDisk() -> DiskThread? {
        if disk == nil, let root { disk = DiskThread(root: root) }
        return disk
    }

    /// The descriptor of the thread once, when it is new.
    func takeNewDescriptor() -> Int32? {
        guard let disk, !isWatched else { return nil }
        isWatched = true
        return disk.descriptor
    }

    /// Sets a check of the disk work that begins now.
    func workBegins() { sweep.check(by: ccurl_now() + diskLimit) }

    /// Whether the disk has been silent for too long. If not, it sets the next check.
    ///
    /// - Parameter since: when the disk work began; 0: the disk has nothing to do.
    func isSilent(since: Int64) -> Bool {
        guard since > 0 else { return false }
        if since + diskLimit <= ccurl_now() { return true }
        sweep.check(by: since + diskLimit)
        return false
    }

    /// The failure of a call that waits for a silent disk.
    ///
    /// - Parameter file: the call's file, if the thread works on none.
    func silence(_ file: @autoclosure () -> String, sent: SentState, answer: Int? = nil) -> CallFailure {
        FileFailure.silence(nanoseconds: diskLimit, file: disk?.current ?? file(), sent: sent, answer: answer)
    }
}

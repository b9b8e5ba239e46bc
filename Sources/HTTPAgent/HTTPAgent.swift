// SPDX-License-Identifier: Apache-2.0
import CCurl
import CLinux
public import JobModel

/// Makes HTTP calls with libcurl inside the loop of its owner: it takes an `HTTPCall` and returns a `CallOutcome`.
///
/// The agent never blocks. It belongs to the thread of its owner, and uses other threads only for disk work and
/// look-ups. One turn of the owner's loop:
///
///     wait (epoll) until nextDeadline ─► socketReady(…) for each ready descriptor
///            ▲                           timeout() if nextDeadline has passed
///            │                           takeFinished() ─► outcomes, by slot
///     drainSocketChanges { epoll_ctl } ◄─ start(call, slot:) for each free slot
///
/// libcurl's callbacks are C functions (CCurl) that fill buffers and lists. Swift handles a call twice, at its start
/// and at its end.
///
/// Calls that are limited to public addresses have their own connection pool, and so has each transport. So no call
/// uses a connection that its rules would not have opened.
///
/// `CallTable` holds the calls. `CallLauncher` begins them, `RequestSender` sends their requests, `CallFinisher` handles
/// their ends, and `FileCalls` advances calls with files.
///
/// The agent follows redirects itself. libcurl 7.88 follows them without a bound, and gives custom headers and bodies
/// to any host. Each hop is parsed, checked and sent like a separate call, within one total time.
public final class HTTPAgent {
    /// The most calls at once. Slots are numbered from 0.
    public let slots: Int
    let loop: CurlLoop
    let table: CallTable
    let folder: FilesFolder
    private let sender: RequestSender
    private let finisher: CallFinisher
    private let files: FileCalls
    private let launcher: CallLauncher
    /// Whether libcurl has run since `collect`, so that calls may have ended.
    private var mayHaveFinished = false

    /// Checks the loaded libcurl and creates both pools. Handles are created when they are needed.
    ///
    /// - Parameters:
    ///   - slots: the most calls at once.
    ///   - caFile: replaces the system's certificate authorities (PEM).
    ///   - filesRoot: the directory for downloads and file parts; nil: neither is allowed.
    ///   - descriptors: limits the number of connections.
    ///   - diskLimit: how long a file system may be silent, like one whose server is gone, before calls that wait for
    ///     it end.
    /// - Throws: `AgentError` with the remedy in its message.
    public init(
        slots: Int, caFile: String? = nil, filesRoot: String? = nil, descriptors: DescriptorBudget = .current,
        diskLimit: Duration = .seconds(60)
    ) throws(AgentError) {
        self.slots = max(1, slots)
        try CurlLibrary.started.get()
        let connections = descriptors.connections(slots: self.slots)
        loop = try CurlLoop(slots: self.slots, mostHeld: connections, caFile: caFile)
        let sweep = SweepTimer()
        folder = FilesFolder(root: filesRoot, diskLimit: diskLimit, sweep: sweep)
        // Pools and handles need descriptors even without a connection.
        let keptTransports = max(2, min(64, connections / 16))
        table = CallTable(slots: self.slots, in: loop, keptTransports: keptTransports, folder: folder, sweep: sweep)
        sender = RequestSender(table)
        finisher = CallFinisher(table, sender)
        files = FileCalls(table, sender, finisher, in: loop)
        launcher = CallLauncher(table, files)
    }

    /// Starts a call in a free slot that the owner chooses.
    ///
    /// The next `timeout()` sends the request, and is due at once. A call that is refused before the network gets an
    /// outcome like any other call.
    public func start(_ call: HTTPCall, slot: Int) { launcher.start(call, slot: slot) }

    /// How many calls are under way.
    public var callsInFlight: Int { table.count + table.stubs.count }

    /// When to call `timeout()`, in nanoseconds of CLOCK_MONOTONIC. Nil if nothing is due.
    ///
    /// It may lie in the past: after `start`, since only `timeout()` makes libcurl act, and while there may be outcomes
    /// to take. A fast server can answer while the request is still being sent.
    public var nextDeadline: UInt64? {
        if mayHaveFinished || table.hasFinished { return 0 }
        let due = min(
            loop.deadline ?? .max, table.sweep.dueAt, table.shortage.dueAt, table.names.dueAt, table.stubs.dueAt)
        return due == .max ? nil : UInt64(max(0, due))
    }

    /// Reports a ready descriptor of a `SocketChange` to libcurl. Report hang-ups and errors as readable.
    ///
    /// C: `curl_multi_socket_action`.
    public func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool) {
        mayHaveFinished = true
        if let disk = folder.disk, disk.descriptor == descriptor { return disk.drain() }
        if descriptor == table.names.descriptor { return sender.sendFound() }
        loop.socketReady(descriptor, readable: readable, writable: writable)
    }

    /// Performs the actions that are due: connects, sends, and ends calls after their timeout.
    ///
    /// Call it once per turn, and `takeFinished` after it. Do not call it in an inner loop.
    public func timeout() {
        let now = ccurl_now()
        mayHaveFinished = true
        if now >= table.shortage.dueAt { launcher.startWaitingCalls() }
        if now >= table.names.dueAt { sender.sendOverdue(now: now) }
        if now >= table.stubs.dueAt { table.deliverStubs(now: now) }
        loop.expire(now: now)
        if now >= table.sweep.dueAt { sweep(now) }
    }

    /// Ends calls that exceed limits which libcurl does not enforce, and sets the next check.
    private func sweep(_ now: Int64) {
        let timer = table.sweep
        timer.clear()
        table.downloads.flush()
        for slot in table.slots {
            guard let flight = table[slot] else { continue }
            var next = Int64.max
            let pace = unsafe ccurl_transfer_check_pace(flight.transfer.handle, now, &next)
            timer.check(by: next)
            switch pace {
            case CCURL_FIRST_BYTE_LATE: finisher.finish(slot, flight, end: .firstByteLate)
            case CCURL_TOO_SLOW: finisher.finish(slot, flight, end: .tooSlow)
            case CCURL_OVERDUE:
                finisher.finish(slot, flight, end: .library(UInt32(CURLE_OPERATION_TIMEDOUT.rawValue)))
            default: break
            }
        }
        // Under load deadlines follow each other closely. All calls are checked at most 100 times a second.
        timer.delay(until: now + 10_000_000)
    }

    /// Returns the changes of socket interest since the last call, in order.
    ///
    /// A removal may precede a new wait on the same number, which is then another socket. If libcurl has closed a
    /// socket without a notice, no removal is reported. The kernel has then removed it from the epoll set.
    public func drainSocketChanges(_ apply: (SocketChange) -> Void) {
        loop.drainSocketChanges(apply)
        // The disk goes last: its number may have belonged to a socket that was closed since the last turn.
        if let disk = folder.takeNewDescriptor() { apply(SocketChange(reading: disk)) }
        if let names = table.names.takeNewDescriptor() { apply(SocketChange(reading: names)) }
    }

    /// The calls that ended since the last time. Their slots are free again.
    public func takeFinished() -> [FinishedCall] {
        collect()
        return table.takeFinished()
    }

    /// Turns calls that libcurl has finished into outcomes, or into the next hop of a redirect.
    private func collect() {
        mayHaveFinished = false
        while let (slot, code) = loop.nextDone() {
            guard let flight = table[slot] else { continue }
            finisher.finish(slot, flight, end: .library(code))
        }
        if files.serve() { mayHaveFinished = true }
    }

    /// Puts unprocessed calls back. They come first the next time, which is due at once.
    public func putBack(_ calls: ArraySlice<FinishedCall>) { table.putBack(calls) }

    /// Aborts a call at once, without an outcome. Returns whether bytes of it may have left.
    @discardableResult
    public func cancel(slot: Int) -> SentState { table.cancel(slot) }

    /// The progress of the call in a slot. Nil if the slot has no call.
    public func progress(slot: Int) -> TransferProgress? { table.progress(slot) }

    /// The progress of a running download. Nil for a slot without one.
    public func downloadProgress(slot: Int) -> DownloadProgress? { table.downloads[slot]?.progress }

    /// Whether an answer waits for memory.
    public var hasWaitingAnswers: Bool { loop.hasWaitingAnswers }

    /// The answers that wait for memory. The one that has waited longest comes first.
    public func waitingAnswers() -> [WaitingAnswer] { loop.waitingAnswers }

    /// Lets a call keep so many bytes of its answer in all, and continues it.
    public func giveRoom(slot: Int, bytes: Int) {
        guard let flight = table[slot] else { return }
        let code = unsafe ccurl_transfer_give_room(flight.transfer.handle, Int64(bytes))
        mayHaveFinished = true
        // libcurl no longer checks the limits of a call that was paused. So the agent checks them within a second.
        table.sweep.check(by: ccurl_now() + 1_000_000_000)
        if code != 0 { finisher.finish(slot, flight, end: .library(UInt32(code))) }
    }

    /// Whether calls wait because the process has no free descriptor.
    public var isShortOfDescriptors: Bool { loop.isShort }

    /// Closes idle connections if the process is nearly out of descriptors. Call it when another part has found none.
    public func closeIdleConnectionsIfShort() {
        if clinux_is_short_of_descriptors() { loop.closeIdleConnections() }
    }

    /// Returns the memory of unused answer buffers to the system. Call it in idle moments.
    public func returnMemory() { ccurl_return_memory() }

    /// Removes partial downloads that are unchanged for this time, in the background. It does not follow links.
    ///
    /// Without a files root it does nothing. Once an hour is often enough.
    public func expireParts(olderThan age: Duration = .seconds(7 * 86_400)) {
        folder.openDisk()?.expire(olderThan: max(1, age.components.seconds))
    }
}

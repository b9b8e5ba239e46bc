// SPDX-License-Identifier: Apache-2.0
import CCurl
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
/// The agent follows redirects itself. libcurl 7.88 follows them without a bound, and gives custom headers and bodies
/// to any host. Each hop is parsed, checked and sent like a separate call, within one total time.
@safe public final class HTTPAgent {
    /// The most calls at once. Slots are numbered from 0.
    public let slots: Int
    let loop: OpaquePointer
    var flights: [Flight?]
    var inFlight = 0
    var idle: [CurlTransfer] = []
    var transports: [Transport: TransportPool] = [:]
    var transportUses = 0
    var finished: [FinishedCall] = []
    /// Whether libcurl has run since `collect`, so that calls may have ended.
    var mayHaveFinished = false
    /// The limits of the last sending, in libcurl's units.
    var limits = SendingLimits(.standard)
    /// Memory for the header lines of the next sending. Only `setHeaders` uses it.
    var lines: [UInt8] = []
    /// Whether the last headers request encodings that only libcurl can decode.
    var needsLibraryDecoding = false
    /// Recently parsed URLs by their text. To parse and check one takes more than a microsecond.
    var knownURLs: [String: CallURL] = [:]
    /// Names whose cached addresses in libcurl may be outdated, because calls to them fail.
    var staleNames = StaleNames()
    /// Look-ups of hosts that were not called lately, and the calls that wait for them, by slot.
    var lookups: NameLookups?
    var awaitedNames: [Int: AwaitedName] = [:]
    var nameTickets: UInt64 = 0
    /// When the first of these calls continues without an answer.
    var namesDueAt = Int64.max
    /// Hosts that were called lately, whose connections are worth keeping.
    var recentHosts = RecentHosts()
    /// The directory of files that jobs name; nil: such jobs are refused.
    let filesRoot: String?
    /// The running downloads, by slot.
    var downloads: [Int: DownloadTask] = [:]
    /// The files that calls send, by slot and in the order of their parts.
    var uploads: [Int: [UploadFile]] = [:]
    /// The slots of calls whose files are not all open or have no byte yet. Nothing was sent of these calls.
    var openingUploads: Set<Int> = []
    var disk: DiskThread?
    /// If the disk takes longer than this for one operation, the calls that wait for it end. Nanoseconds.
    let diskLimit: Int64
    /// Whether the owner was asked to wait on the descriptors of the disk thread and of the look-ups.
    private var isDiskKnown = false, areLookupsKnown = false
    /// When to check the limits that libcurl does not enforce, in monotonic nanoseconds.
    var sweepAt = Int64.max
    /// Calls that wait or have waited for a descriptor, by slot.
    var shortCalls: [Int: ShortCall] = [:]
    /// When the waiting ones are begun again; `.max` if none waits.
    var shortLookAt = Int64.max
    /// How many idle transports are kept.
    let keptTransports: Int

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
        self.filesRoot = filesRoot
        self.diskLimit = Int64(diskLimit / .nanoseconds(1))
        let connections = descriptors.connections(slots: max(1, slots))
        // Pools and handles need descriptors even without a connection.
        keptTransports = max(2, min(64, connections / 16))
        try CurlLibrary.started.get()
        self.slots = max(1, slots)
        flights = Array(repeating: nil, count: max(1, slots))
        let handle = unsafe HTTPAgent.makeLoop(slots: max(1, slots), mostHeld: connections, caFile: caFile)
        guard let handle = unsafe handle else {
            throw AgentError(code: .cannotStart, message: "libcurl could not create a handle: out of memory")
        }
        unsafe loop = handle
    }

    private static func makeLoop(slots: Int, mostHeld: Int, caFile: String?) -> OpaquePointer? {
        unsafe "postrider/\(ProductVersion.current)".withCString { agent in
            unsafe CurlLibrary.acceptedEncodings.withCString { encodings in
                var settings = unsafe ccurl_settings(
                    max_connections: max(16, slots), most_held: Int32(clamping: mostHeld), user_agent: agent,
                    accept_encoding: encodings, ca_file: nil
                )
                guard let caFile else { return unsafe ccurl_loop_create(&settings) }
                return unsafe caFile.withCString {
                    unsafe settings.ca_file = unsafe $0
                    return unsafe ccurl_loop_create(&settings)
                }
            }
        }
    }

    deinit {
        // The order matters: a transport's handles, then its pools, then the loop.
        flights.removeAll()
        idle.removeAll()
        // Parts and files must outlive the transfers that use them. The disk goes last and finishes its work.
        downloads.removeAll()
        uploads.removeAll()
        transports.removeAll()
        unsafe ccurl_loop_destroy(loop)
    }

    /// How many calls are under way.
    public var callsInFlight: Int { inFlight }

    /// When to call `timeout()`, in nanoseconds of CLOCK_MONOTONIC. Nil if nothing is due.
    ///
    /// It may lie in the past: after `start`, since only `timeout()` makes libcurl act, and while there may be outcomes
    /// to take. A fast server can answer while the request is still being sent.
    public var nextDeadline: UInt64? {
        if mayHaveFinished || !finished.isEmpty { return 0 }
        let library = unsafe ccurl_loop_deadline(loop)
        let own = min(sweepAt, shortLookAt, namesDueAt)
        if library < 0 { return own == .max ? nil : UInt64(max(0, own)) }
        return UInt64(max(0, min(library, own)))
    }

    /// Reports a ready descriptor of a `SocketChange` to libcurl. Report hang-ups and errors as readable.
    ///
    /// C: `curl_multi_socket_action`.
    public func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool) {
        mayHaveFinished = true
        if descriptor == disk?.descriptor { return disk?.drain() ?? () }
        if descriptor == lookups?.descriptor { return takeNames() }
        unsafe ccurl_loop_socket_ready(loop, descriptor, readable, writable)
    }

    /// Performs the actions that are due: connects, sends, and ends calls after their timeout.
    ///
    /// Call it once per turn, and `takeFinished` after it. Do not call it in an inner loop.
    public func timeout() {
        let now = ccurl_now()
        mayHaveFinished = true
        if now >= shortLookAt { beginShortCalls() }
        if now >= namesDueAt { goOnWithoutNames(now) }
        unsafe ccurl_loop_expire(loop, now)
        if now >= sweepAt { sweep(now) }
    }

    /// Returns the changes of socket interest since the last call, in order.
    ///
    /// A removal may precede a new wait on the same number, which is then another socket. If libcurl has closed a
    /// socket without a notice, no removal is reported. The kernel has then removed it from the epoll set.
    public func drainSocketChanges(_ apply: (SocketChange) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: ccurl_socket_change.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let count = unsafe ccurl_loop_take_changes(loop, base, Int32(buffer.count))
                if count == 0 { return }
                for index in 0..<Int(count) {
                    let change = unsafe buffer[index]
                    apply(SocketChange(descriptor: change.fd, wantsRead: change.read, wantsWrite: change.write))
                }
            }
        }
        // The disk goes last: its number may have belonged to a socket that was closed since the last turn.
        if let disk, !isDiskKnown {
            isDiskKnown = true
            apply(SocketChange(descriptor: disk.descriptor, wantsRead: true, wantsWrite: false))
        }
        if let lookups, !areLookupsKnown {
            areLookupsKnown = true
            apply(SocketChange(descriptor: lookups.descriptor, wantsRead: true, wantsWrite: false))
        }
    }

    /// The calls that ended since the last time. Their slots are free again.
    public func takeFinished() -> [FinishedCall] {
        collect()
        if finished.isEmpty { return [] }
        var taken: [FinishedCall] = []
        swap(&taken, &finished)
        finished.reserveCapacity(taken.count)
        return taken
    }

    /// Puts unprocessed calls back. They come first the next time, which is due at once.
    public func putBack(_ calls: ArraySlice<FinishedCall>) { finished.insert(contentsOf: calls, at: 0) }

    /// Aborts a call at once, without an outcome. Returns whether bytes of it may have left.
    @discardableResult
    public func cancel(slot: Int) -> SentState {
        if let index = finished.firstIndex(where: { $0.slot == slot }) {
            let outcome = finished.remove(at: index).outcome
            if case .failure(let failure) = outcome.ending { return failure.sent }
            return .maybe
        }
        if cancelShortCall(slot) { return .no }
        guard flights.indices.contains(slot), let flight = flights[slot] else { return .no }
        if awaitedNames[slot] != nil {
            release(slot, flight.transfer)
            return flight.redirects > 0 ? .maybe : .no
        }
        var isOpening = openingUploads.contains(slot)
        if case .opening? = downloads[slot]?.phase { isOpening = true }
        if isOpening {
            release(slot, flight.transfer)
            return .no
        }
        let began = unsafe flight.redirects > 0 || result(of: flight.transfer).request_began
        release(slot, flight.transfer)
        return began ? .maybe : .no
    }
}

// SPDX-License-Identifier: Apache-2.0
import CCurl
public import JobModel

/// Makes HTTP calls with libcurl for an owner that waits: takes an `HTTPCall`, gives back a `CallOutcome`.
///
/// The agent never waits and, but for the disk work of downloads and parts, has no thread of its own; it belongs to the
/// thread of its owner. One turn of the owner's loop looks like this:
///
///     wait (epoll) until nextDeadline ─► socketReady(…) for each ready descriptor
///            ▲                           timeout() if nextDeadline has passed
///            │                           takeFinished() ─► outcomes, by slot
///     drainSocketChanges { epoll_ctl } ◄─ start(call, slot:) for each free slot
///
/// libcurl's callbacks are C functions (CCurl) that fill buffers and lists; Swift looks at a call twice, when
/// it starts and when it ends. Calls that may reach public addresses only and calls that may reach all have
/// separate pools of connections, and so has each transport: no call ever uses a connection that its rules would
/// not have opened.
///
/// Redirects are followed here and not in libcurl (7.88 follows without bound and hands custom headers and
/// bodies to any host): each hop is parsed, checked and sent like a call of its own, within one total time.
@safe public final class HTTPAgent {
    /// The most calls at once; slots are numbered from 0 to one less.
    public let slots: Int
    let loop: OpaquePointer
    var flights: [Flight?]
    var inFlight = 0
    var idle: [CurlTransfer] = []
    var transports: [Transport: TransportPool] = [:]
    var transportUses = 0
    var finished: [FinishedCall] = []
    /// libcurl has run since `collect`: there may be calls that ended.
    var mayHaveFinished = false
    var limits = SendingLimits(.standard)
    var lines: [UInt8] = []
    /// The headers written last ask for encodings that only libcurl can undo.
    var asksForMore = false
    /// URLs parsed lately, by their text: parsing and checking one costs more than a microsecond.
    var knownURLs: [String: CallURL] = [:]
    /// What libcurl may know of names is too old where calls fail.
    var staleNames = StaleNames()
    /// Look-ups of hosts that were not called lately, and the calls that wait for one, by slot.
    var lookups: NameLookups?
    var awaitedNames: [Int: AwaitedName] = [:]
    var nameTickets: UInt64 = 0
    /// When the first of these calls goes on without an answer.
    var namesDueAt = Int64.max
    /// Whose connections are worth keeping.
    var recentHosts = RecentHosts()
    /// Where files that jobs name are; nil: such jobs are refused.
    let filesRoot: String?
    /// The downloads among the flights, by slot.
    var downloads: [Int: DownloadTask] = [:]
    /// The files that calls send, by slot and in the order of their parts.
    var uploads: [Int: [UploadFile]] = [:]
    /// The slots of those whose files are not all open, or have no byte to send yet; nothing was sent of these calls.
    var openingUploads: Set<Int> = []
    var disk: DownloadDisk?
    /// How long the disk may be at one piece of work, in nanoseconds, before calls are given up that wait for it.
    let diskLimit: Int64
    private var isDiskKnown = false, areLookupsKnown = false
    /// When the limits are due that libcurl does not keep: monotonic nanoseconds.
    var sweepAt = Int64.max
    /// Calls that have found no descriptor and wait for one, or have done so, by slot.
    var shortCalls: [Int: ShortCall] = [:]
    /// When those that wait are begun anew; `.max`: none does.
    var shortLookAt = Int64.max
    /// How many transports are kept ready beside those in use.
    let keptTransports: Int

    /// Checks the loaded libcurl and makes both pools; handles are made when first needed.
    ///
    /// - Parameters:
    ///   - caFile: replaces the system's authorities (PEM).
    ///   - filesRoot: the directory that downloads stay below and parts are sent from; nil: neither.
    ///   - descriptors: bound what connections take.
    ///   - diskLimit: how long a file system may be silent, as one does whose server is gone, before calls end that
    ///     wait for it.
    /// - Throws: `AgentError` with the remedy in its message.
    public init(
        slots: Int, caFile: String? = nil, filesRoot: String? = nil, descriptors: DescriptorBudget = .current,
        diskLimit: Duration = .seconds(60)
    ) throws(AgentError) {
        self.filesRoot = filesRoot
        self.diskLimit = Int64(diskLimit / .nanoseconds(1))
        let connections = descriptors.connections(slots: max(1, slots))
        // Its pools and handles take some, without any connection.
        keptTransports = max(2, min(64, connections / 16))
        try CurlLibrary.started.get()
        self.slots = max(1, slots)
        flights = Array(repeating: nil, count: max(1, slots))
        let handle = unsafe HTTPAgent.makeLoop(slots: max(1, slots), mostHeld: connections, caFile: caFile)
        guard let handle = unsafe handle else {
            throw AgentError(code: .cannotStart, message: "libcurl gives no handle; the memory is out")
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
        // In this order: a transport's handles, then its pools, then the loop.
        flights.removeAll()
        idle.removeAll()
        // After the transfers that fill or send them; the disk goes last and finishes what is under way.
        downloads.removeAll()
        uploads.removeAll()
        transports.removeAll()
        unsafe ccurl_loop_destroy(loop)
    }

    /// How many calls are under way.
    public var callsInFlight: Int { inFlight }

    /// When `timeout()` wants to be called, in nanoseconds of CLOCK_MONOTONIC; nil if nothing is due.
    ///
    /// It may lie in the past, and does after `start`, which libcurl acts on only in `timeout()`, and while
    /// there may be outcomes to take: a fast server can answer while the request is still being sent.
    public var nextDeadline: UInt64? {
        if mayHaveFinished || !finished.isEmpty { return 0 }
        let library = unsafe ccurl_loop_deadline(loop)
        let own = min(sweepAt, shortLookAt, namesDueAt)
        if library < 0 { return own == .max ? nil : UInt64(max(0, own)) }
        return UInt64(max(0, min(library, own)))
    }

    /// Tells libcurl that a descriptor of a `SocketChange` is ready. Report hang-ups and errors as readable.
    /// C: `curl_multi_socket_action`.
    public func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool) {
        mayHaveFinished = true
        if descriptor == disk?.descriptor { return disk?.drain() ?? () }
        if descriptor == lookups?.descriptor { return takeNames() }
        unsafe ccurl_loop_socket_ready(loop, descriptor, readable, writable)
    }

    /// Does what is due: connects and sends what was started, ends what has run out of time.
    ///
    /// Call it once per turn and `takeFinished` after it, not in a loop of its own.
    public func timeout() {
        let now = ccurl_now()
        mayHaveFinished = true
        if now >= shortLookAt { beginShortCalls() }
        if now >= namesDueAt { goOnWithoutNames(now) }
        unsafe ccurl_loop_expire(loop, now)
        if now >= sweepAt { sweep(now) }
    }

    /// Hands over what has changed in what the owner is to wait for, since the last time. In order: a removal may be
    /// followed by a new wait on the same number, which then is another socket. Of a socket that libcurl has closed by
    /// itself no removal is told: its end has taken it out of the set.
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
        // Last, since its number may be that of a socket that was closed since the last time.
        if let disk, !isDiskKnown {
            isDiskKnown = true
            apply(SocketChange(descriptor: disk.descriptor, wantsRead: true, wantsWrite: false))
        }
        if let lookups, !areLookupsKnown {
            areLookupsKnown = true
            apply(SocketChange(descriptor: lookups.descriptor, wantsRead: true, wantsWrite: false))
        }
    }

    /// The calls that ended since the last time; their slots are free again.
    public func takeFinished() -> [FinishedCall] {
        collect()
        if finished.isEmpty { return [] }
        var taken: [FinishedCall] = []
        swap(&taken, &finished)
        finished.reserveCapacity(taken.count)
        return taken
    }

    /// Takes back what there was no time for; it comes first the next time, which is due at once.
    public func putBack(_ calls: ArraySlice<FinishedCall>) { finished.insert(contentsOf: calls, at: 0) }

    /// Aborts a call at once; it will have no outcome. Says whether bytes of it may have left.
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

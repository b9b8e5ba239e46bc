// SPDX-License-Identifier: Apache-2.0
import CCurl
import CResolver
import JobModel

/// The calls that wait for the address of their host before they are sent.
///
/// A call to a host that was not called lately finds neither an open connection nor an address in libcurl's cache.
/// Threads look such names up before libcurl begins, because libcurl starts a thread for each look-up. The addresses go
/// into libcurl's cache and follow its rules.
struct NameWaits {
    /// The look-up that a call waits for.
    private struct Wait {
        let ticket: UInt64
        /// When the look-up began, in monotonic nanoseconds.
        let since: Int64
    }

    private let slots: Int
    private var lookups: NameLookups?
    private var waits: [Int: Wait] = [:]
    private var tickets: UInt64 = 0
    /// Whether the owner was asked to wait on the descriptor.
    private var isWatched = false
    /// When the first of the calls continues without an answer; `.max` if none waits.
    private(set) var dueAt = Int64.max

    /// The threads start with the first look-up.
    init(slots: Int) { self.slots = slots }

    /// Readable when look-ups have ended. Nil before the first look-up.
    var descriptor: Int32? { lookups?.descriptor }

    /// The descriptor once, when it is new.
    mutating func takeNewDescriptor() -> Int32? {
        guard let lookups, !isWatched else { return nil }
        isWatched = true
        return lookups.descriptor
    }

    /// Since when the call of a slot waits. Nil if it does not.
    func since(_ slot: Int) -> Int64? { waits.isEmpty ? nil : waits[slot]?.since }

    /// Begins to look up the host of a flight. False if it can be sent at once.
    mutating func begin(_ flight: borrowing Flight) -> Bool {
        let call = flight.call
        // With a proxy, libcurl looks up the proxy's name. Calls with files have their own steps between start and
        // sending.
        guard call.transport?.proxy == nil, call.download == nil, !call.body.isParts,
            NameWaits.isPlainName(flight.url.host)
        else { return false }
        if lookups == nil { lookups = NameLookups() }
        tickets += 1
        let slot = flight.transfer.slot
        let ticket = tickets * UInt64(slots) + UInt64(slot)
        guard let lookups, lookups.ask(ticket, for: flight.url.host, port: flight.url.port) else { return false }
        let now = ccurl_now()
        waits[slot] = Wait(ticket: ticket, since: now)
        dueAt = min(dueAt, now + Int64(CRESOLVER_LOOKUP_NS))
        return true
    }

    /// Collects the answers for `takeAnswer`.
    func drain() { lookups?.drain() }

    /// The next call whose look-up has ended, and the address of its host, which is valid until the next call.
    ///
    /// If the name was not found, the address is nil. Then libcurl looks it up again and reports the cause.
    mutating func takeAnswer() -> (slot: Int, since: Int64, found: UnsafePointer<CChar>?)? {
        while let answer = unsafe lookups?.next() {
            let slot = unsafe Int(answer.ticket % UInt64(slots))
            // The call may have continued or ended, and another call may have its slot.
            guard let wait = waits[slot], unsafe wait.ticket == answer.ticket else { continue }
            waits[slot] = nil
            return unsafe (slot, wait.since, answer.entry)
        }
        return nil
    }

    /// The calls whose look-ups are slow. They wait no longer.
    mutating func takeOverdue(now: Int64) -> [(slot: Int, since: Int64)] {
        dueAt = .max
        var overdue: [(slot: Int, since: Int64)] = []
        for (slot, wait) in waits {
            let due = wait.since + Int64(CRESOLVER_LOOKUP_NS)
            if due > now { dueAt = min(dueAt, due) } else { overdue.append((slot, wait.since)) }
        }
        for (slot, _) in overdue { waits[slot] = nil }
        return overdue
    }

    /// Ends the wait of a call.
    mutating func remove(_ slot: Int) { if !waits.isEmpty { waits[slot] = nil } }

    /// Whether libcurl would look up this host unchanged: it is a name and needs no conversion.
    static func isPlainName(_ host: String) -> Bool {
        var labelBegins = true
        var lastLabelIsName = false
        for byte in host.utf8 {
            switch byte {
            case UInt8(ascii: "."):
                // An empty label.
                if labelBegins { return false }
                labelBegins = true
                continue
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if labelBegins { lastLabelIsName = true }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                if labelBegins { lastLabelIsName = false }
            default: return false
            }
            labelBegins = false
        }
        let lower = host.lowercased()
        return !labelBegins && lastLabelIsName && lower != "localhost" && !lower.hasSuffix(".localhost")
    }
}

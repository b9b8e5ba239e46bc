// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Threads that look names up. C: `ccurl_lookups`.
@safe final class NameLookups {
    private let handle: OpaquePointer
    /// Readable when there are answers.
    let descriptor: Int32

    /// Nil if memory or descriptors are out.
    init?() {
        guard let handle = unsafe ccurl_lookups_create() else { return nil }
        unsafe self.handle = handle
        descriptor = unsafe ccurl_lookups_descriptor(handle)
    }

    deinit { unsafe ccurl_lookups_destroy(handle) }

    /// Begins to look a name up; false if the name server is slow.
    func ask(_ ticket: UInt64, for host: String, port: Int) -> Bool {
        unsafe ccurl_lookups_ask(handle, ticket, host, Int32(port))
    }

    /// Hands out all answers: tickets, and where each host was found as an entry of CURLOPT_RESOLVE; nil if it cannot
    /// be used.
    func drain(_ take: (UInt64, UnsafePointer<CChar>?) -> Void) {
        unsafe ccurl_lookups_drain(handle)
        var ticket: UInt64 = 0
        var entry: UnsafePointer<CChar>?
        while unsafe ccurl_lookups_next(handle, &ticket, &entry) { unsafe take(ticket, entry) }
    }
}

/// The look-up that a call waits for before it is sent.
struct AwaitedName {
    let ticket: UInt64
    /// Monotonic nanoseconds.
    let since: Int64
}

// A call to a host that was not called lately finds neither an open connection nor an address in libcurl's cache. Such
// names are looked up here before libcurl begins: libcurl starts a thread for each look-up. The addresses go into
// libcurl's cache and follow its rules.
extension HTTPAgent {
    /// Begins to look up the host of a flight; false if it is to be sent at once.
    func askForName(_ flight: borrowing Flight) -> Bool {
        let call = flight.call
        // Behind a proxy it is the proxy that is looked up. A disk has its own steps between start and sending.
        guard call.transport?.proxy == nil, call.download == nil, !call.body.isParts,
            HTTPAgent.isPlainName(flight.url.host)
        else { return false }
        if lookups == nil { lookups = NameLookups() }
        nameTickets += 1
        let slot = flight.transfer.slot
        let ticket = nameTickets * UInt64(slots) + UInt64(slot)
        guard let lookups, lookups.ask(ticket, for: flight.url.host, port: flight.url.port) else { return false }
        let now = ccurl_now()
        awaitedNames[slot] = AwaitedName(ticket: ticket, since: now)
        namesDueAt = min(namesDueAt, now + Int64(CCURL_LOOKUP_NS))
        return true
    }

    /// Sends the calls whose names have been looked up.
    func takeNames() {
        guard let lookups else { return }
        unsafe lookups.drain { ticket, found in
            let slot = Int(ticket % UInt64(slots))
            // The call may have gone on, or ended, and another one may have its slot.
            guard let awaited = awaitedNames[slot], awaited.ticket == ticket else { return }
            // libcurl looks up what was not found, and says why it fails.
            unsafe goOn(slot, awaited, found: found)
        }
    }

    /// Leaves to libcurl what takes longer.
    func goOnWithoutNames(_ now: Int64) {
        namesDueAt = .max
        for (slot, awaited) in awaitedNames {
            let due = awaited.since + Int64(CCURL_LOOKUP_NS)
            if due > now { namesDueAt = min(namesDueAt, due) } else { unsafe goOn(slot, awaited, found: nil) }
        }
    }

    private func goOn(_ slot: Int, _ awaited: AwaitedName, found: UnsafePointer<CChar>?) {
        awaitedNames[slot] = nil
        guard var flight = flights[slot] else { return }
        flight.elapsedMicroseconds += (ccurl_now() - awaited.since) / 1_000
        flights[slot] = flight
        if unsafe transmit(flight, hostIsKnown: false, found: found) { return }
        let failure = CallRefusal.memory.failure(sent: flight.redirects > 0 ? .maybe : .no)
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
    }

    /// Whether libcurl would look up this host unchanged: it is not an address and needs no conversion.
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

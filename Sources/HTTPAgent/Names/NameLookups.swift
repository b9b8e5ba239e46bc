// SPDX-License-Identifier: Apache-2.0
import CCurl
import CResolver
import JobModel

/// Threads that look names up. C: `cresolver_lookups`.
@safe final class NameLookups {
    private let handle: OpaquePointer
    /// Readable when answers are available.
    let descriptor: Int32

    /// Starts the threads. Nil without memory or descriptors.
    init?() {
        guard let handle = unsafe cresolver_lookups_create() else { return nil }
        unsafe self.handle = handle
        descriptor = unsafe cresolver_lookups_descriptor(handle)
    }

    deinit { unsafe cresolver_lookups_destroy(handle) }

    /// Begins to look a name up. False if the name server is slow.
    func ask(_ ticket: UInt64, for host: String, port: Int) -> Bool {
        unsafe cresolver_lookups_ask(handle, ticket, host, Int32(port))
    }

    /// Returns all answers: tickets, and the address of each host as an entry of CURLOPT_RESOLVE. The entry is nil if
    /// it cannot be used.
    func drain(_ take: (UInt64, UnsafePointer<CChar>?) -> Void) {
        unsafe cresolver_lookups_drain(handle)
        var ticket: UInt64 = 0
        var entry: UnsafePointer<CChar>?
        while unsafe cresolver_lookups_next(handle, &ticket, &entry) { unsafe take(ticket, entry) }
    }
}

/// The look-up that a call waits for before it is sent.
struct AwaitedName {
    let ticket: UInt64
    /// When the look-up began, in monotonic nanoseconds.
    let since: Int64
}

// A call to a host that was not called lately finds neither an open connection nor an address in libcurl's cache. These
// threads look such names up before libcurl begins, because libcurl starts a thread for each look-up. The addresses go
// into libcurl's cache and follow its rules.
extension HTTPAgent {
    /// Begins to look up the host of a flight. False if it can be sent at once.
    func askForName(_ flight: borrowing Flight) -> Bool {
        let call = flight.call
        // With a proxy, libcurl looks up the proxy's name. Calls with files have their own steps between start and
        // sending.
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
        namesDueAt = min(namesDueAt, now + Int64(CRESOLVER_LOOKUP_NS))
        return true
    }

    /// Sends the calls whose look-ups have ended.
    func takeNames() {
        guard let lookups else { return }
        unsafe lookups.drain { ticket, found in
            let slot = Int(ticket % UInt64(slots))
            // The call may have continued or ended, and another call may have its slot.
            guard let awaited = awaitedNames[slot], awaited.ticket == ticket else { return }
            // If the name was not found, libcurl looks it up again and reports the cause.
            unsafe goOn(slot, awaited, found: found)
        }
    }

    /// Leaves slow look-ups to libcurl.
    func goOnWithoutNames(_ now: Int64) {
        namesDueAt = .max
        for (slot, awaited) in awaitedNames {
            let due = awaited.since + Int64(CRESOLVER_LOOKUP_NS)
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

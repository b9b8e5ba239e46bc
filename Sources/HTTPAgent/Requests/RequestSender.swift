// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Sends the requests of calls: the first one, and those after redirects.
final class RequestSender {
    private let table: CallTable
    /// The limits of the last sending, in libcurl's units.
    private var limits = SendingLimits(.standard)
    private var lines = RequestLines()
    /// Hosts that were called lately, whose connections are worth keeping.
    private var recentHosts = RecentHosts()
    /// Names whose cached addresses in libcurl may be outdated, because calls to them fail.
    private var staleNames = StaleNames()

    /// A sender for the calls of a table.
    init(_ table: CallTable) { self.table = table }

    /// Sends one request of a flight, or begins to look up its host. False without memory.
    func send(_ flight: borrowing Flight) -> Bool {
        let isKnown = recentHosts.remember(flight.url.host, port: flight.url.port)
        if !isKnown, table.names.begin(flight) { return true }
        return unsafe transmit(flight, hostIsKnown: isKnown, found: nil)
    }

    /// Records that no server, or a wrong one, answered at the host's address.
    func doubt(_ host: String) { staleNames.doubt(host, now: ccurl_wall_seconds()) }

    /// Sends the calls whose look-ups have ended.
    func sendFound() {
        table.names.drain()
        while let answer = unsafe table.names.takeAnswer() {
            unsafe goOn(answer.slot, since: answer.since, found: answer.found)
        }
    }

    /// Leaves slow look-ups to libcurl.
    func sendOverdue(now: Int64) {
        for (slot, since) in table.names.takeOverdue(now: now) { unsafe goOn(slot, since: since, found: nil) }
    }

    /// Sends a call that has waited for its host's address.
    private func goOn(_ slot: Int, since: Int64, found: UnsafePointer<CChar>?) {
        guard var flight = table[slot] else { return }
        flight.elapsedMicroseconds += (ccurl_now() - since) / 1_000
        table.replace(slot, with: flight)
        if unsafe transmit(flight, hostIsKnown: false, found: found) { return }
        let failure = CallRefusal.memory.failure(sent: flight.redirects > 0 ? .maybe : .no)
        table.end(slot, flight, CallOutcome(.failure(failure)))
    }

    /// Sends the request. False without memory.
    ///
    /// - Parameters:
    ///   - hostIsKnown: whether the host was called lately, so that its connection is worth keeping.
    ///   - found: the address of the host, as an entry of CURLOPT_RESOLVE; nil: libcurl looks it up.
    private func transmit(_ flight: borrowing Flight, hostIsKnown: Bool, found: UnsafePointer<CChar>?) -> Bool {
        let call = flight.call
        if limits.source != call.limits { limits = SendingLimits(call.limits) }
        let spent = Int(flight.elapsedMicroseconds / 1_000)
        let total = limits.totalMilliseconds == 0 ? 0 : max(1, limits.totalMilliseconds - spent)
        let sendsBody = flight.sendsBody
        flight.transfer.setURL(flight.url)
        let download = call.download == nil ? nil : table.downloads[flight.transfer.slot]
        download?.requestBegins()
        guard lines.set(for: flight, sendsBody: sendsBody, download: download) else { return false }
        if limits.firstByteMilliseconds > 0 || limits.lowSpeedMilliseconds > 0 {
            let wait = limits.firstByteMilliseconds > 0 ? min(limits.firstByteMilliseconds, 1_000) : 1_000
            table.sweep.check(by: ccurl_now() + wait * 1_000_000)
        }
        // A call that waits for a connection of another call has no timer in libcurl 7.88 (pace.c).
        if flight.url.isHTTPS { table.sweep.check(by: ccurl_now() + Int64(limits.connectMilliseconds) * 1_000_000) }
        guard unsafe flight.transfer.setFound(found) else { return false }
        return flight.transfer.start(
            ccurl_sending(
                method: RequestSender.index(of: flight.method),
                public_only: !call.allowsPrivateNetwork,
                repeatable: flight.isRepeatable,
                has_body: sendsBody,
                https: flight.url.isHTTPS,
                may_share: call.mayShareConnection,
                host_is_known: hostIsKnown,
                may_multiplex: call.mayMultiplex,
                decodes: call.decodesBody,
                library_decodes: lines.needsLibraryDecoding && call.decodesBody,
                total_ms: total,
                connect_ms: total == 0 ? limits.connectMilliseconds : min(total, limits.connectMilliseconds),
                address_age: staleNames.age(of: flight.url.host, now: ccurl_wall_seconds()),
                first_byte_ms: limits.firstByteMilliseconds,
                low_speed_bytes: Int64(call.limits.lowSpeedBytes),
                low_speed_ms: limits.lowSpeedMilliseconds,
                max_response_bytes: Int64(max(0, call.limits.maxResponseBytes))
            )
        )
    }

    private static func index(of method: HTTPMethod) -> Int32 {
        switch method {
        case .get: 0
        case .post: 1
        case .head: 2
        case .put: 3
        case .delete: 4
        case .patch: 5
        case .options: 6
        }
    }
}

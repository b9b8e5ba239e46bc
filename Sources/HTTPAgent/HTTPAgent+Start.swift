// SPDX-License-Identifier: Apache-2.0
import CCurl
public import JobModel

extension HTTPAgent {
    /// Starts a call in a free slot that the owner chooses.
    ///
    /// The next `timeout()` sends the request, and is due at once. A call that is refused before the network gets an
    /// outcome like any other call.
    public func start(_ call: HTTPCall, slot: Int) {
        precondition(flights.indices.contains(slot) && flights[slot] == nil, "slot \(slot) is in use or out of range")
        do throws(CallRefusal) {
            flights[slot] = try begin(call, slot)
            inFlight += 1
        } catch {
            if error.lacksDescriptors, postpone(slot, refused: call) { return }
            shortCalls[slot] = nil
            var failure = error.failure
            if exceedsDescriptors(call, others: inFlight) { failure.lacksDescriptors = false }
            finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
        }
    }

    private func begin(_ call: HTTPCall, _ slot: Int) throws(CallRefusal) -> Flight {
        let url: CallURL
        do throws(CallURL.Refusal) {
            url = try parse(call)
        } catch {
            throw CallRefusal(.badURL, "the URL cannot be called: \(error.message)")
        }
        var size = 0
        for header in call.headers {
            if let refusal = RequestHeaders.refusal(of: header) { throw CallRefusal(.badHeader, refusal) }
            size += header.name.utf8.count + header.value.utf8.count
        }
        guard size <= RequestHeaders.limit else {
            throw CallRefusal(
                .badHeader,
                "the headers have \(size) bytes, more than the limit of \(RequestHeaders.limit); send large values in the body"
            )
        }
        if case .bytes(_, let type?) = call.body,
            let refusal = RequestHeaders.refusal(of: HTTPHeader("Content-Type", type))
        {
            throw CallRefusal(.badHeader, refusal)
        }
        let files = try openFiles(of: call)
        let transfer: CurlTransfer
        if let transport = call.transport {
            if transport.proxy != nil, !call.allowsPrivateNetwork, let reason = url.privateHostReason {
                throw CallRefusal(
                    .deniedAddress, "the host \(reason); a proxy may reach it only if private networks are allowed")
            }
            transfer = try takeTransfer(for: transport)
        } else if let waiting = unsafe idle.popLast() ?? CurlTransfer(in: loop) {
            transfer = waiting
        } else {
            throw CallRefusal(.internal, "libcurl could not create a handle: out of memory")
        }
        transfer.slot = slot
        let flight = Flight(transfer: transfer, call: call, url: url)
        do throws(CallRefusal) {
            try load(call, into: transfer)
            if files.isEmpty { try sendFirst(flight, slot: slot) } else { open(files, slot: slot) }
        } catch {
            giveBack(transfer)
            throw error
        }
        return flight
    }

    /// Sends a call whose request is complete, or begins to open the file for its answer.
    func sendFirst(_ flight: Flight, slot: Int) throws(CallRefusal) {
        if let download = flight.call.download {
            if let failure = open(download, flight, slot: slot) { throw CallRefusal(failure.code, failure.message) }
        } else if !send(flight) {
            throw .memory
        }
    }

    private func parse(_ call: HTTPCall) throws(CallURL.Refusal) -> CallURL {
        guard call.query.isEmpty else { return try CallURL.parse(call.url, query: call.query) }
        if let known = knownURLs[call.url] { return known }
        let url = try CallURL.parse(call.url)
        // A URL with a password is not kept longer than its call.
        if url.authorization == nil, call.url.utf8.count <= 512 {
            if knownURLs.count == 256 { knownURLs.removeAll(keepingCapacity: true) }
            knownURLs[call.url] = url
        }
        return url
    }

    /// Sends one request of a flight, the first one or one after a redirect. False without memory.
    func send(_ flight: borrowing Flight) -> Bool {
        let isKnown = recentHosts.remember(flight.url.host, port: flight.url.port)
        if !isKnown, askForName(flight) { return true }
        return unsafe transmit(flight, hostIsKnown: isKnown, found: nil)
    }

    /// Sends the request. False without memory.
    ///
    /// - Parameters:
    ///   - hostIsKnown: whether the host was called lately, so that its connection is worth keeping.
    ///   - found: the address of the host, as an entry of CURLOPT_RESOLVE; nil: libcurl looks it up.
    func transmit(_ flight: borrowing Flight, hostIsKnown: Bool, found: UnsafePointer<CChar>?) -> Bool {
        let call = flight.call
        if limits.source != call.limits { limits = SendingLimits(call.limits) }
        let spent = Int(flight.elapsedMicroseconds / 1_000)
        let total = limits.totalMilliseconds == 0 ? 0 : max(1, limits.totalMilliseconds - spent)
        let sendsBody = flight.sendsBody
        flight.transfer.setURL(flight.url)
        if call.download != nil { downloads[flight.transfer.slot]?.phase = .asking }
        guard setHeaders(flight, sendsBody: sendsBody) else { return false }
        if limits.firstByteMilliseconds > 0 || limits.lowSpeedMilliseconds > 0 {
            let wait = limits.firstByteMilliseconds > 0 ? min(limits.firstByteMilliseconds, 1_000) : 1_000
            sweepAt = min(sweepAt, ccurl_now() + wait * 1_000_000)
        }
        // A call that waits for a connection of another call has no timer in libcurl 7.88 (pace.c).
        if flight.url.isHTTPS { sweepAt = min(sweepAt, ccurl_now() + Int64(limits.connectMilliseconds) * 1_000_000) }
        guard unsafe flight.transfer.setFound(found) else { return false }
        return flight.transfer.start(
            ccurl_sending(
                method: HTTPAgent.index(of: flight.method),
                public_only: !call.allowsPrivateNetwork,
                repeatable: flight.isRepeatable,
                has_body: sendsBody,
                https: flight.url.isHTTPS,
                may_share: call.mayShareConnection,
                host_is_known: hostIsKnown,
                may_multiplex: call.mayMultiplex,
                decodes: call.decodesBody,
                library_decodes: needsLibraryDecoding && call.decodesBody,
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

    /// Sets the header lines of this sending: the job's own, those for URL and body, and removals of headers that
    /// libcurl would add.
    private func setHeaders(_ flight: borrowing Flight, sendsBody: Bool) -> Bool {
        let call = flight.call
        needsLibraryDecoding = false
        if call.headers.isEmpty, !sendsBody, flight.authorization == nil, call.download == nil,
            call.mayShareConnection
        {
            return flight.transfer.setHeaders([], count: 0)
        }
        lines.removeAll(keepingCapacity: true)
        var count = 0
        var hasType = false
        var hasAuthorization = false
        for header in call.headers {
            let name = header.name.lowercased()
            if flight.leftOrigin, !RequestHeaders.crossesOrigins(name) { continue }
            if !flight.keepsBody, name.hasPrefix("content-") { continue }
            if name == "accept-encoding", call.download != nil { continue }
            if name == "cookie", call.usesCookies { continue }
            // Parts allow no other type, and libcurl would append its boundary to any.
            if name == "content-type", call.body.isParts { continue }
            if name == "content-type" { hasType = true }
            if name == "authorization" { hasAuthorization = true }
            if name == "accept-encoding" { needsLibraryDecoding = RequestHeaders.needsLibraryDecoding(header.value) }
            RequestHeaders.append(header.name, header.value, to: &lines)
            count += 1
        }
        if call.download != nil, let task = downloads[flight.transfer.slot] { count += task.appendHeaders(to: &lines) }
        if let authorization = flight.authorization, !hasAuthorization, !flight.leftOrigin {
            RequestHeaders.append("Authorization", authorization, to: &lines)
            count += 1
        }
        if sendsBody, !hasType {
            switch call.body {
            case .form where flight.keepsBody:
                RequestHeaders.append("Content-Type", "application/x-www-form-urlencoded", to: &lines)
            case .bytes(_, let type?) where flight.keepsBody:
                RequestHeaders.append("Content-Type", type, to: &lines)
            case .parts where flight.keepsBody:
                // libcurl writes it, with the boundary.
                count -= 1
            default:
                // libcurl would mark every body as a form.
                RequestHeaders.appendRemoval(of: "Content-Type", to: &lines)
            }
            count += 1
        }
        if sendsBody {
            // libcurl would wait a second for the 100 of a server that ignores it (RFC 9110 §10.1.1).
            RequestHeaders.appendRemoval(of: "Expect", to: &lines)
            count += 1
        }
        if sendsBody, flight.transfer.hasGzipBody {
            RequestHeaders.append("Content-Encoding", "gzip", to: &lines)
            count += 1
        }
        if !call.mayShareConnection {
            // The side that closes first keeps the port for a minute. So the server should close.
            RequestHeaders.append("Connection", "close", to: &lines)
            // libcurl would send a proxy the opposite.
            RequestHeaders.appendRemoval(of: "Proxy-Connection", to: &lines)
            count += 2
        }
        return flight.transfer.setHeaders(lines, count: count)
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

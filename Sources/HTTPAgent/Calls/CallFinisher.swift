// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Handles the end of a sending: it delivers the outcome, follows a redirect or begins the call again.
final class CallFinisher {
    private let table: CallTable
    private let sender: RequestSender

    /// Ends the calls of a table.
    init(_ table: CallTable, _ sender: RequestSender) {
        self.table = table
        self.sender = sender
    }

    /// Handles the end of one sending.
    func finish(_ slot: Int, _ flight: Flight, end: Evidence.End) {
        let result = unsafe flight.transfer.result
        let ended = unsafe SendingEnd(result, cause: end)
        let step = ended.step(
            maxRedirects: flight.call.limits.maxRedirects,
            isProxied: flight.transport?.proxy != nil && !flight.url.isHTTPS)
        switch step {
        case .redirect:
            guard let location = unsafe AnswerReader.location(result) else { break }
            return unsafe follow(slot, flight, result, location: location)
        case .proxyRefusal:
            let sent: SentState = flight.redirects > 0 ? .maybe : .no
            let failure = CallFailure(.proxy, FailureTable.refusedByProxy, sent: sent)
            return unsafe deliver(slot, flight, result, .failure(failure))
        case .answer:
            if let end = table.downloads[slot]?.answered(flight) { return finish(slot, flight, end) }
            if ended.codingDefect == CCURL_CODING_FINE {
                let response = unsafe AnswerReader.response(result, takenFrom: flight.transfer)
                return unsafe deliver(slot, flight, result, .response(response))
            }
        case .failure: break
        }
        unsafe fail(slot, flight, result, ended)
    }

    /// Handles the end of one sending of a download.
    func finish(_ slot: Int, _ flight: Flight, _ end: DownloadEnd) {
        switch end {
        case .call(let ending): deliver(slot, flight, ending)
        case .sendAgain:
            var next = flight
            unsafe next.add(flight.transfer.result)
            flight.transfer.stop()
            table.replace(slot, with: next)
            if !sender.send(next) { failForMemory(slot, next, sent: .maybe) }
        }
    }

    /// Ends a sending without a complete answer: the call fails, waits for a descriptor, or begins again.
    private func fail(_ slot: Int, _ flight: Flight, _ result: ccurl_result, _ ended: SendingEnd) {
        let isShort = unsafe DescriptorWaits.isShort(result, ended.cause)
        if isShort, table.postpone(slot, flight) { return }
        let evidence = unsafe Evidence(result, end: ended.cause, of: flight, outOfDescriptors: isShort)
        var failure = FailureTable.failure(for: evidence, host: flight.url.host, limits: limits(of: flight, slot))
        if DescriptorWaits.isFutile(for: flight.call, others: table.count - 1) { failure.lacksDescriptors = false }
        if failure.code == .deniedAddress, flight.redirects > 0 { failure.code = .deniedRedirect }
        // With a proxy, libcurl looks up the proxy's name.
        if unsafe !result.request_began, failure.code != .dns, flight.transport?.proxy == nil {
            sender.doubt(flight.url.host)
            // Another server may have a cached address now. So the call begins again with a new look-up.
            if failure.code == .tlsVerify, unsafe !result.looked_up, !flight.hasLookedAgain {
                return unsafe lookAgain(slot, flight, result)
            }
        }
        if unsafe ended.isUndecoded || isRefusal(slot, result) {
            let takesBody = ended.isUndecoded && ended.isSuccess
            var refusal = unsafe AnswerReader.response(result, takenFrom: takesBody ? flight.transfer : nil)
            refusal.bodyDefect = failure
            return unsafe deliver(slot, flight, result, .response(refusal))
        }
        unsafe deliver(slot, flight, result, .failure(failure))
    }

    /// Whether status and headers alone decide the next step: another token, or a later call. So a proxy that breaks
    /// the body of a 429 costs no attempt.
    private func isRefusal(_ slot: Int, _ result: ccurl_result) -> Bool {
        // A status whose body goes to the file of a download is no refusal.
        if table.downloads[slot]?.isWriting == true { return false }
        guard unsafe result.headers_whole, unsafe !result.memory_out else { return false }
        if unsafe result.status == 401 { return true }
        return unsafe Throttle(AnswerReader.response(result)) != nil
    }

    /// The limits for messages. The limit of a file differs from the limit of a body.
    private func limits(of flight: Flight, _ slot: Int) -> CallLimits {
        var limits = flight.call.limits
        if let task = table.downloads[slot], task.isWriting, let most = task.download.maxBytes {
            limits.maxResponseBytes = Int(clamping: most)
        }
        return limits
    }

    /// Ends the call for lack of memory or of a connection pool.
    func failForMemory(_ slot: Int, _ flight: Flight, sent: SentState) {
        deliver(slot, flight, .failure(CallRefusal.memory.failure(sent: sent)))
    }

    /// Ends the call, with or without an answer.
    func deliver(_ slot: Int, _ flight: Flight, _ ending: CallOutcome.Ending) {
        unsafe deliver(slot, flight, flight.transfer.result, ending)
    }

    /// Builds the outcome and frees the slot. A download keeps its slot until the disk has settled its file.
    private func deliver(_ slot: Int, _ flight: Flight, _ result: ccurl_result, _ ending: CallOutcome.Ending) {
        let outcome = unsafe AnswerReader.outcome(ending, flight, result)
        guard let task = table.downloads[slot] else { return table.end(slot, flight, outcome) }
        flight.transfer.stop()
        task.settle(outcome)
    }

    /// Sends the request of the next hop, or fails the call if the rules forbid the hop.
    private func follow(_ slot: Int, _ flight: Flight, _ result: ccurl_result, location: String) {
        let status = unsafe Int(result.status)
        switch RedirectHop.after(flight, status: status, location: location) {
        case .denied(let message):
            let failure = CallFailure(.deniedRedirect, message, sent: .maybe, status: status)
            unsafe deliver(slot, flight, result, .failure(failure))
        case .request(var next, let staysWithHost):
            unsafe next.add(result)
            next.transfer.stop()
            guard staysWithHost || leave(flight, as: &next), sender.send(next) else {
                let failure = CallRefusal.memory.failure(sent: .maybe)
                return table.end(slot, next, CallOutcome(.failure(failure)))
            }
            table.replace(slot, with: next)
        }
    }

    /// Withholds jar and client certificate from another origin. False without memory.
    ///
    /// The new handle has no body: `RedirectHop` denies a hop to another origin that would send the body.
    private func leave(_ flight: Flight, as next: inout Flight) -> Bool {
        if flight.call.usesCookies, !flight.leftOrigin {
            next.cookiesOfOrigin = flight.transfer.cookies
            guard flight.transfer.setCookies([]), flight.transfer.setOwnCookies(nil) else { return false }
        }
        guard let transport = flight.transport, transport.certificateFile != nil else { return true }
        let bare = Transport(
            proxy: transport.proxy, interface: transport.interface, caFile: transport.caFile, pins: transport.pins)
        guard let other = try? table.transfers.take(for: bare) else { return false }
        other.slot = flight.transfer.slot
        other.setRoom(flight.call.answerRoom)
        next.transport = bare
        next.transfer = other
        let isReady = !flight.call.usesCookies || other.setCookies(flight.transfer.cookies)
        if let task = table.downloads[other.slot] { unsafe ccurl_transfer_set_part(other.handle, task.part.handle) }
        table.transfers.giveBack(flight.transfer)
        return isReady
    }

    /// Begins a call again with a new look-up of its host. No byte of the request has left.
    private func lookAgain(_ slot: Int, _ flight: Flight, _ result: ccurl_result) {
        var next = flight
        next.hasLookedAgain = true
        unsafe next.elapsedMicroseconds += result.total_us
        next.transfer.stop()
        guard sender.send(next) else {
            return unsafe deliver(slot, flight, result, .failure(CallRefusal.memory.failure(sent: .no)))
        }
        table.replace(slot, with: next)
    }
}

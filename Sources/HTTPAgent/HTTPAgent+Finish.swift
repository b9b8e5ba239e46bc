// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

extension HTTPAgent {
    /// The most idle handles. To create one costs about as much as a small call.
    private static let idleHandles = 256

    /// Turns calls that libcurl has finished into outcomes, or into the next hop of a redirect.
    func collect() {
        mayHaveFinished = false
        var code: Int32 = 0
        while let handle = unsafe ccurl_loop_next_done(loop, &code) {
            let slot = unsafe ccurl_transfer_slot(handle)
            guard let flight = flights[slot] else { continue }
            finish(slot, flight, end: .library(UInt32(code)))
        }
        if !uploads.isEmpty { serveUploads() }
        if !downloads.isEmpty { serveDownloads() }
    }

    /// Ends calls that exceed limits which libcurl does not enforce, and sets the next check.
    func sweep(_ now: Int64) {
        sweepAt = .max
        if !downloads.isEmpty { flushDownloads() }
        for slot in flights.indices {
            guard let flight = flights[slot] else { continue }
            switch unsafe ccurl_transfer_check_pace(flight.transfer.handle, now, &sweepAt) {
            case CCURL_FIRST_BYTE_LATE: finish(slot, flight, end: .firstByteLate)
            case CCURL_TOO_SLOW: finish(slot, flight, end: .tooSlow)
            case CCURL_OVERDUE: finish(slot, flight, end: .library(UInt32(CURLE_OPERATION_TIMEDOUT.rawValue)))
            default: break
            }
        }
        // Under load deadlines follow each other closely. All calls are checked at most 100 times a second.
        if sweepAt != .max { sweepAt = max(sweepAt, now + 10_000_000) }
    }

    func result(of transfer: CurlTransfer) -> ccurl_result {
        unsafe ccurl_transfer_result(transfer.handle)
    }

    /// Frees the slot, and keeps the handle if there is room.
    func release(_ slot: Int, _ transfer: CurlTransfer) {
        flights[slot] = nil
        inFlight -= 1
        giveBack(transfer)
        if !downloads.isEmpty { downloads[slot] = nil }
        if !uploads.isEmpty { (uploads[slot], _) = (nil, openingUploads.remove(slot)) }
        if !shortCalls.isEmpty { shortCalls[slot] = nil }
        if !awaitedNames.isEmpty { awaitedNames[slot] = nil }
        if inFlight == 0 { sweepAt = .max }
    }

    /// Keeps a handle for later calls, unless it is spent or there are enough.
    func giveBack(_ transfer: CurlTransfer) {
        transfer.stop()
        transfer.clear()
        if let pool = transfer.pool {
            pool.inUse -= 1
            if !transfer.isSpent { pool.giveBack(transfer) }
        } else if !transfer.isSpent, idle.count < HTTPAgent.idleHandles {
            idle.append(transfer)
        }
    }

    /// Handles the end of one sending: follows a redirect, begins the call again, or delivers the outcome.
    func finish(_ slot: Int, _ flight: Flight, end: Evidence.End) {
        let result = unsafe result(of: flight.transfer)
        // RFC 9113 §8.1: a server that ignores the rest of a request may reset its stream after a complete answer.
        let isReset = end == .library(UInt32(CURLE_HTTP2_STREAM.rawValue))
        let end = unsafe isReset && result.stream_whole ? .library(UInt32(CURLE_OK.rawValue)) : end
        // The body of a redirect is not used, complete or not.
        if unsafe hasHeaders(result, end), unsafe isFollowed(result, flight), let location = unsafe location(result) {
            return unsafe follow(slot, flight, result, status: Int(result.status), location: location)
        }
        // libcurl also reports success if the connection ends inside the headers.
        if end == .library(UInt32(CURLE_OK.rawValue)), unsafe result.headers_whole && !result.close_unannounced {
            // Over http the proxy itself gives this answer, so the server got nothing. For https it refuses CONNECT.
            if unsafe result.status == 407, flight.transport?.proxy != nil, !flight.url.isHTTPS {
                let sent: SentState = flight.redirects > 0 ? .maybe : .no
                let failure = CallFailure(.proxy, FailureTable.refusedByProxy, sent: sent)
                return unsafe deliver(slot, flight, result, .failure(failure))
            }
            if !downloads.isEmpty, let task = downloads[slot], answered(slot, flight, task) { return }
            if unsafe result.coding_defect == CCURL_CODING_FINE {
                return unsafe deliver(slot, flight, result, .response(answer(result, takenFrom: flight.transfer)))
            }
        }
        let isShort = unsafe isShort(result, end)
        if isShort, postpone(slot, flight) { return }
        let evidence = unsafe Evidence(
            end: end,
            text: String(cString: result.error_text),
            osError: Int32(truncatingIfNeeded: result.os_errno),
            requestBegan: result.request_began,
            bytesSent: result.bytes_sent,
            answerBegan: result.answer_began,
            status: result.status >= 200 ? Int(result.status) : nil,
            reused: result.reused,
            certificateWanted: result.certificate_wanted,
            denied: result.denied,
            headersTooLarge: result.headers_too_large,
            lengthUnclear: result.length_unclear,
            closeUnannounced: result.close_unannounced,
            codingDefect: result.coding_defect,
            memoryOut: result.memory_out,
            bodyTooLarge: result.body_too_large,
            resendRefused: result.resend_refused,
            wasResent: result.resent,
            outOfDescriptors: isShort,
            changedFile: result.changed_file.map { unsafe String(cString: $0) },
            proxyStatus: result.proxy_status,
            tlsBegan: result.tls_began,
            transport: flight.transport,
            privateNetworkSwitch: flight.call.privateNetworkSwitch,
            followedRedirect: flight.redirects > 0
        )
        var failure = FailureTable.failure(for: evidence, host: flight.url.host, limits: limits(of: flight, slot))
        if exceedsDescriptors(flight.call, others: inFlight - 1) { failure.lacksDescriptors = false }
        if failure.code == .deniedAddress, flight.redirects > 0 { failure.code = .deniedRedirect }
        // With a proxy, libcurl looks up the proxy's name.
        if unsafe !result.request_began, failure.code != .dns, flight.transport?.proxy == nil {
            staleNames.doubt(flight.url.host, now: ccurl_wall_seconds())
            // Another server may have a cached address now. So the call begins again with a new look-up.
            if failure.code == .tlsVerify, unsafe !result.looked_up, !flight.hasLookedAgain {
                return unsafe lookAgain(slot, flight, result)
            }
        }
        let isUndecoded = unsafe isUndecoded(result, end)
        if unsafe isUndecoded || isRefusal(slot, result) {
            let isWhole = end == .library(UInt32(CURLE_OK.rawValue))
            var refusal = unsafe answer(result, takenFrom: isUndecoded && isWhole ? flight.transfer : nil)
            refusal.bodyDefect = failure
            return unsafe deliver(slot, flight, result, .response(refusal))
        }
        unsafe deliver(slot, flight, result, .failure(failure))
    }

    /// Whether the headers of an answer can be used, however its body ended. After the call's timeout they cannot.
    private func hasHeaders(_ result: ccurl_result, _ end: Evidence.End) -> Bool {
        guard unsafe result.headers_whole else { return false }
        if end == .library(UInt32(CURLE_OK.rawValue)) { return true }
        return unsafe !result.memory_out && end != .library(UInt32(CURLE_OPERATION_TIMEDOUT.rawValue))
    }

    /// Whether status and headers alone decide the next step: another token, or a later call. So a proxy that breaks
    /// the body of a 429 costs no attempt.
    private func isRefusal(_ slot: Int, _ result: ccurl_result) -> Bool {
        // A status whose body goes to the file of a download is no refusal.
        if case .writing? = downloads[slot]?.phase { return false }
        guard unsafe result.headers_whole, unsafe !result.memory_out else { return false }
        if unsafe result.status == 401 { return true }
        return unsafe Throttle(answer(result)) != nil
    }

    /// Whether an answer is complete, or as far as libcurl could decode it, and only its encoding is broken.
    private func isUndecoded(_ result: ccurl_result, _ end: Evidence.End) -> Bool {
        guard unsafe result.headers_whole, unsafe !result.memory_out, unsafe !result.body_too_large else {
            return false
        }
        let isKept = unsafe end == .library(UInt32(CURLE_OK.rawValue)) && !result.close_unannounced
        return unsafe isKept && result.coding_defect != CCURL_CODING_FINE
            || end == .library(UInt32(CURLE_BAD_CONTENT_ENCODING.rawValue))
            || end == .library(UInt32(CURLE_WRITE_ERROR.rawValue)) && result.coding_defect == CCURL_CODING_BROKEN
    }

    /// Whether an answer is a redirect to be followed.
    func isFollowed(_ result: ccurl_result, _ flight: Flight) -> Bool {
        unsafe RedirectRules.isRedirect(Int(result.status)) && flight.call.limits.maxRedirects > 0
            && result.location != nil
    }

    /// The answer for the owner.
    ///
    /// - Parameter transfer: the transfer whose body is taken; nil: no body is wanted.
    func answer(_ result: ccurl_result, takenFrom transfer: CurlTransfer? = nil) -> HTTPResponse {
        var response = unsafe HTTPResponse(
            status: Int(result.status),
            headerBlock: bytes(result.headers, result.headers_length),
            body: transfer?.takeBody(result.body_length) ?? []
        )
        if let wait = unsafe requestedWait(result) {
            response.retryAfter = wait.retryAfter
            response.quotaReset = wait.quotaReset
            response.unreadableWait = wait.unreadable
        }
        return response
    }

    /// The wait that the answer's headers ask for. Nil if no header mentions a wait.
    private func requestedWait(_ result: ccurl_result) -> RequestedWait? {
        guard unsafe result.has_wait else { return nil }
        let block = unsafe bytes(result.headers, result.headers_length)
        let now = AnswerHeaders(block: block).clock(now: ccurl_wall_seconds())
        return unsafe RequestedWait(block, status: Int(result.status), now: now)
    }

    /// Builds the outcome and frees the slot. A download keeps its slot until the disk has settled its file.
    func deliver(_ slot: Int, _ flight: Flight, _ result: ccurl_result, _ ending: CallOutcome.Ending) {
        var timings = CallTimings()
        let before = flight.elapsedMicroseconds
        timings.dns = unsafe result.dns_us > 0 ? before + result.dns_us : 0
        timings.connect = unsafe result.reused || result.connect_us == 0 ? 0 : before + result.connect_us
        timings.tls = unsafe result.reused || result.tls_us == 0 ? 0 : before + result.tls_us
        timings.firstByte = unsafe result.first_byte_us > 0 ? before + result.first_byte_us : 0
        timings.total = unsafe before + result.total_us
        let outcome = unsafe CallOutcome(
            ending,
            timings: timings,
            remoteIP: result.remote_ip.map { unsafe String(cString: $0) },
            httpVersion: version(result),
            reused: result.reused,
            bytesSent: flight.bytesSent + result.bytes_sent,
            bytesReceived: flight.bytesReceived + result.bytes_received,
            cookies: flight.call.usesCookies ? cookies(of: flight) : nil,
            redirected: flight.redirects > 0,
            leftOrigin: flight.leftOrigin,
            landedAt: flight.redirects > 0 && !flight.leftOrigin ? flight.url.text : nil
        )
        if !downloads.isEmpty, let task = downloads[slot] { return settle(slot, flight, task, outcome) }
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: outcome))
    }

    /// The limits for messages. The limit of a file differs from the limit of a body.
    private func limits(of flight: Flight, _ slot: Int) -> CallLimits {
        var limits = flight.call.limits
        if case .writing? = downloads[slot]?.phase, let most = downloads[slot]?.download.maxBytes {
            limits.maxResponseBytes = Int(clamping: most)
        }
        return limits
    }

    /// Sends the request of the next hop, or fails the call if the rules forbid the hop.
    private func follow(_ slot: Int, _ flight: Flight, _ result: ccurl_result, status: Int, location: String) {
        func deny(_ message: String) {
            let failure = CallFailure(.deniedRedirect, message, sent: .maybe, status: status)
            unsafe deliver(slot, flight, result, .failure(failure))
        }
        guard flight.redirects < flight.call.limits.maxRedirects else {
            return deny("more than \(flight.call.limits.maxRedirects) redirects; call the final URL instead")
        }
        let url: CallURL
        do throws(CallURL.Refusal) {
            url = try flight.url.resolving(location)
        } catch {
            return deny("status \(status) redirects to a URL that may not be called: \(error.message)")
        }
        var next = flight
        let (method, keepsBody) = RedirectRules.next(flight.method, status: status)
        next.method = method
        next.keepsBody = flight.keepsBody && keepsBody
        let staysWithHost = url.hasSameOrigin(as: flight.url) || flight.url.isUpgrade(to: url)
        // A body often contains secrets like a header does. It goes only to the host that it was meant for.
        if !staysWithHost, next.keepsBody, flight.call.body != .none {
            return deny(
                "status \(status) asks to send the body from \(flight.url.origin) to another origin, \(url.origin); "
                    + "if you trust that origin, call it directly"
            )
        }
        next.leftOrigin = flight.leftOrigin || !staysWithHost
        if flight.transport?.proxy != nil, !flight.call.allowsPrivateNetwork, let reason = url.privateHostReason {
            return deny("status \(status) redirects to a URL that may not be called: the host \(reason)")
        }
        next.redirects += 1
        unsafe next.elapsedMicroseconds += result.total_us
        unsafe next.bytesSent += result.bytes_sent
        unsafe next.bytesReceived += result.bytes_received
        next.url = url
        next.transfer.stop()
        guard staysWithHost || leave(flight, as: &next), send(next) else {
            let failure = CallRefusal.memory.failure(sent: .maybe)
            release(slot, next.transfer)
            return finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
        }
        flights[slot] = next
    }

    /// Begins a call again with a new look-up of its host. No byte of the request has left.
    private func lookAgain(_ slot: Int, _ flight: Flight, _ result: ccurl_result) {
        var next = flight
        next.hasLookedAgain = true
        unsafe next.elapsedMicroseconds += result.total_us
        next.transfer.stop()
        guard send(next) else {
            return unsafe deliver(slot, flight, result, .failure(CallRefusal.memory.failure(sent: .no)))
        }
        flights[slot] = next
    }

    /// Withholds jar and client certificate from another origin. False without memory.
    ///
    /// The new handle has no body: `follow` denies a hop to another origin that would send the body.
    private func leave(_ flight: Flight, as next: inout Flight) -> Bool {
        if flight.call.usesCookies, !flight.leftOrigin {
            next.cookiesOfOrigin = flight.transfer.cookies
            guard flight.transfer.setCookies([]), flight.transfer.setOwnCookies(nil) else { return false }
        }
        guard let transport = flight.transport, transport.certificateFile != nil else { return true }
        let bare = Transport(
            proxy: transport.proxy, interface: transport.interface, caFile: transport.caFile, pins: transport.pins)
        guard let other = try? takeTransfer(for: bare) else { return false }
        other.slot = flight.transfer.slot
        other.setRoom(flight.call.answerRoom)
        next.transport = bare
        next.transfer = other
        let isReady = !flight.call.usesCookies || other.setCookies(flight.transfer.cookies)
        if let task = downloads[other.slot] { unsafe ccurl_transfer_set_part(other.handle, task.part.handle) }
        giveBack(flight.transfer)
        return isReady
    }

    /// The changes of the call in its jar. Cookies of other origins are added to the cookies of its own origin.
    private func cookies(of flight: Flight) -> CookieChanges? {
        if !flight.cookiesOfOrigin.isEmpty {
            _ = flight.transfer.setCookies(flight.cookiesOfOrigin + flight.transfer.cookies)
        }
        // A cookie that an answer deletes stays in libcurl's jar with an expiry in the past.
        let now = ccurl_wall_seconds()
        let jar = flight.transfer.cookies.filter { !CookieLines.hasExpired($0, now: now) }
        return CookieChanges(from: flight.call.cookies, to: jar)
    }

    private func version(_ result: ccurl_result) -> String? {
        guard unsafe result.answer_began else { return nil }
        switch unsafe UInt32(truncatingIfNeeded: result.http_version) {
        case UInt32(CURL_HTTP_VERSION_1_0): return "1.0"
        case UInt32(CURL_HTTP_VERSION_1_1): return "1.1"
        case UInt32(CURL_HTTP_VERSION_2_0): return "2"
        default: return nil
        }
    }

    private func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The Location as text. Bytes that are not UTF-8 are percent-encoded.
    private func location(_ result: ccurl_result) -> String? {
        guard let start = unsafe result.location else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: result.location_length)
        return unsafe String(validating: bytes, as: UTF8.self) ?? PercentEncoding.encodeBeyondASCII(bytes)
    }
}

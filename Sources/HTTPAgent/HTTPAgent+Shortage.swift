// SPDX-License-Identifier: Apache-2.0
import CCurl
import CLinux
import JobModel

/// A call that has found no free descriptor.
struct ShortCall {
    let call: HTTPCall
    /// When it first found none, in monotonic nanoseconds.
    let since: Int64
    /// Whether it waits. Then the next check begins it again.
    var isWaiting = true
}

// A lack of descriptors passes when other calls have ended. So a call without a descriptor keeps its slot and begins
// again, for at most 60 s.
extension HTTPAgent {
    /// A call waits 60 s for a descriptor before it fails.
    private static let longestWait: Int64 = 60_000_000_000
    /// The interval of the checks: 100 ms.
    private static let checkInterval: Int64 = 100_000_000

    /// Whether calls wait because the process has no free descriptor.
    public var isShortOfDescriptors: Bool { shortLookAt != .max }

    /// The descriptors of connections, idle or in use, and of their pools.
    var descriptorsHeld: Int { unsafe Int(ccurl_loop_held(loop)) }

    /// Closes idle connections if the process is nearly out of descriptors. Call it when another part has found none.
    public func closeIdleConnectionsIfShort() {
        if clinux_is_short_of_descriptors() { closeIdleConnections() }
    }

    /// Closes idle connections once: a shortage closes them, and the second call restores the real state.
    func closeIdleConnections() {
        unsafe ccurl_loop_set_short(loop, true)
        unsafe ccurl_loop_set_short(loop, isShortOfDescriptors)
    }

    /// Whether a sending ended before it began because no descriptor was free. libcurl does not say whether a look-up,
    /// or a file of TLS, found none.
    func isShort(_ result: ccurl_result, _ end: Evidence.End) -> Bool {
        guard case .library(let code) = end, unsafe !result.request_began else { return false }
        switch CURLcode(code) {
        case CURLE_COULDNT_CONNECT where unsafe result.out_of_descriptors: return true
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CONNECT_ERROR, CURLE_OUT_OF_MEMORY, CURLE_INTERFACE_FAILED:
            return clinux_is_short_of_descriptors()
        default: return false
        }
    }

    /// Defers a call of which no byte was sent. False if it must fail.
    func postpone(_ slot: Int, _ flight: Flight) -> Bool {
        guard flight.redirects == 0, mayWait(flight.call, slot: slot, others: inFlight - 1) else { return false }
        let since = shortCalls[slot]?.since
        release(slot, flight.transfer)
        wait(flight.call, slot: slot, since: since)
        return true
    }

    /// Defers a call that could not be started. False if it must fail.
    func postpone(_ slot: Int, refused call: HTTPCall) -> Bool {
        guard mayWait(call, slot: slot, others: inFlight) else { return false }
        wait(call, slot: slot, since: shortCalls[slot]?.since)
        return true
    }

    private func mayWait(_ call: HTTPCall, slot: Int, others: Int) -> Bool {
        guard let known = shortCalls[slot] else { return true }
        return !exceedsDescriptors(call, others: others) && ccurl_now() - known.since < HTTPAgent.longestWait
    }

    /// Whether a call that lacks a descriptor has files, and no other call runs that could free one. Then it has more
    /// files than the process has descriptors, and would wait in vain.
    func exceedsDescriptors(_ call: HTTPCall, others: Int) -> Bool { call.body.isParts && others == 0 }

    private func wait(_ call: HTTPCall, slot: Int, since: Int64?) {
        let now = ccurl_now()
        shortCalls[slot] = ShortCall(call: call, since: since ?? now)
        shortLookAt = min(shortLookAt, now + HTTPAgent.checkInterval)
        unsafe ccurl_loop_set_short(loop, true)
    }

    /// Begins all waiting calls again.
    func beginShortCalls() {
        endShortage()
        for (slot, short) in shortCalls.sorted(by: { $0.value.since < $1.value.since }) where short.isWaiting {
            shortCalls[slot]?.isWaiting = false
            start(short.call, slot: slot)
        }
    }

    /// Drops a waiting call. Returns whether the slot had one.
    func cancelShortCall(_ slot: Int) -> Bool {
        guard let short = shortCalls[slot], short.isWaiting else { return false }
        shortCalls[slot] = nil
        if !shortCalls.values.contains(where: \.isWaiting) { endShortage() }
        return true
    }

    private func endShortage() {
        shortLookAt = .max
        unsafe ccurl_loop_set_short(loop, false)
    }
}

// SPDX-License-Identifier: Apache-2.0
import CCurl
import CLinux
import JobModel

/// The calls that have found no free descriptor.
///
/// A lack of descriptors passes when other calls have ended. So a call without a descriptor keeps its slot and begins
/// again, for at most 60 s.
struct DescriptorWaits {
    private struct Wait {
        let call: HTTPCall
        /// When the call first found no descriptor, in monotonic nanoseconds.
        let since: Int64
        /// Whether it waits. Then the next check begins it again.
        var isWaiting = true
    }

    /// A call waits 60 s for a descriptor before it fails.
    private static let longestWait: Int64 = 60_000_000_000
    /// The interval of the checks: 100 ms.
    private static let checkInterval: Int64 = 100_000_000

    private let loop: CurlLoop
    /// Calls that wait or have waited, by slot.
    private var waits: [Int: Wait] = [:]
    /// When the waiting calls are begun again; `.max` if none waits.
    private(set) var dueAt = Int64.max

    /// No call waits.
    init(in loop: CurlLoop) { self.loop = loop }

    /// Whether a call may wait for a descriptor, or wait again.
    ///
    /// - Parameter others: the number of other calls under way.
    func mayWait(_ call: HTTPCall, slot: Int, others: Int) -> Bool {
        guard let known = waits[slot] else { return true }
        return !DescriptorWaits.isFutile(for: call, others: others)
            && ccurl_now() - known.since < DescriptorWaits.longestWait
    }

    /// Whether a call that lacks a descriptor has files, and no other call runs that could free one. Then it has more
    /// files than the process has descriptors, and would wait in vain.
    static func isFutile(for call: HTTPCall, others: Int) -> Bool { call.body.isParts && others == 0 }

    /// Since when the call of a slot has found none, including earlier waits.
    func firstWait(_ slot: Int) -> Int64? { waits[slot]?.since }

    /// Since when the call of a slot waits. Nil if it does not.
    func waitingSince(_ slot: Int) -> Int64? {
        guard let wait = waits[slot], wait.isWaiting else { return nil }
        return wait.since
    }

    /// Lets a call wait.
    ///
    /// - Parameter since: when it first found no descriptor; nil: now.
    mutating func wait(_ call: HTTPCall, slot: Int, since: Int64?) {
        let now = ccurl_now()
        waits[slot] = Wait(call: call, since: since ?? now)
        dueAt = min(dueAt, now + DescriptorWaits.checkInterval)
        loop.setShort(true)
    }

    /// All waiting calls, which begin again now. The one that has waited longest comes first.
    mutating func takeAll() -> [(slot: Int, call: HTTPCall)] {
        endShortage()
        let due = waits.filter(\.value.isWaiting).sorted { $0.value.since < $1.value.since }
        for (slot, _) in due { waits[slot]?.isWaiting = false }
        return due.map { ($0.key, $0.value.call) }
    }

    /// Drops a waiting call. Returns whether the slot had one.
    mutating func cancel(_ slot: Int) -> Bool {
        guard waitingSince(slot) != nil else { return false }
        waits[slot] = nil
        if !waits.values.contains(where: \.isWaiting) { endShortage() }
        return true
    }

    /// Forgets a call that has ended.
    mutating func remove(_ slot: Int) { if !waits.isEmpty { waits[slot] = nil } }

    private mutating func endShortage() {
        dueAt = .max
        loop.setShort(false)
    }

    /// Whether a sending ended before it began because no descriptor was free.
    ///
    /// libcurl does not name this reason for a failed look-up, or for a file of TLS that could not be opened.
    static func isShort(_ result: ccurl_result, _ end: Evidence.End) -> Bool {
        guard case .library(let code) = end, unsafe !result.request_began else { return false }
        switch CURLcode(code) {
        case CURLE_COULDNT_CONNECT where unsafe result.out_of_descriptors: return true
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CONNECT_ERROR, CURLE_OUT_OF_MEMORY, CURLE_INTERFACE_FAILED:
            return clinux_is_short_of_descriptors()
        default: return false
        }
    }
}

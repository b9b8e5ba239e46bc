// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The connection pools, the timer and the sockets of libcurl for one agent. C: `ccurl_loop`.
///
/// Its transfers and transports must be destroyed before it.
@safe final class CurlLoop {
    let handle: OpaquePointer
    /// Whether a call waits for a descriptor. Then libcurl closes idle connections as soon as possible.
    private(set) var isShort = false

    /// Creates both pools.
    ///
    /// - Parameters:
    ///   - slots: the most calls at once.
    ///   - mostHeld: from so many descriptors of connections on, idle connections are closed.
    ///   - caFile: replaces the system's certificate authorities (PEM).
    init(slots: Int, mostHeld: Int, caFile: String?) throws(AgentError) {
        guard let handle = unsafe CurlLoop.create(slots: slots, mostHeld: mostHeld, caFile: caFile) else {
            throw AgentError(code: .cannotStart, message: "libcurl could not create a handle: out of memory")
        }
        unsafe self.handle = handle
    }

    deinit { unsafe ccurl_loop_destroy(handle) }

    /// The User-Agent of calls that set none.
    static var userAgent: String { "postrider/\(ProductVersion.current)" }

    private static func create(slots: Int, mostHeld: Int, caFile: String?) -> OpaquePointer? {
        unsafe CurlLoop.userAgent.withCString { agent in
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

    /// When `expire` is due, in monotonic nanoseconds; nil: never.
    var deadline: Int64? {
        let deadline = unsafe ccurl_loop_deadline(handle)
        return deadline < 0 ? nil : deadline
    }

    /// Performs the actions that are due.
    func expire(now: Int64) { unsafe ccurl_loop_expire(handle, now) }

    /// Reports a ready socket. C: `curl_multi_socket_action`.
    func socketReady(_ descriptor: Int32, readable: Bool, writable: Bool) {
        unsafe ccurl_loop_socket_ready(handle, descriptor, readable, writable)
    }

    /// Passes on the changes of socket interest since the last call, in order.
    func drainSocketChanges(_ apply: (SocketChange) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: ccurl_socket_change.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let count = unsafe ccurl_loop_take_changes(handle, base, Int32(buffer.count))
                if count == 0 { return }
                for index in 0..<Int(count) {
                    let change = unsafe buffer[index]
                    apply(SocketChange(descriptor: change.fd, wantsRead: change.read, wantsWrite: change.write))
                }
            }
        }
    }

    /// The slot of the next transfer that ended, and its `CURLcode`. The transfer has left its pool.
    func nextDone() -> (slot: Int, code: UInt32)? {
        var code: Int32 = 0
        guard let transfer = unsafe ccurl_loop_next_done(handle, &code) else { return nil }
        return (unsafe ccurl_transfer_slot(transfer), UInt32(code))
    }

    /// The descriptors of connections, idle or in use, and of their pools.
    var descriptorsHeld: Int { unsafe Int(ccurl_loop_held(handle)) }

    /// Sets whether a call waits for a descriptor.
    func setShort(_ isShort: Bool) {
        self.isShort = isShort
        unsafe ccurl_loop_set_short(handle, isShort)
    }

    /// Closes idle connections once: a shortage closes them, and the second call restores the real state.
    func closeIdleConnections() {
        unsafe ccurl_loop_set_short(handle, true)
        unsafe ccurl_loop_set_short(handle, isShort)
    }

    /// Whether an answer waits for memory.
    var hasWaitingAnswers: Bool { unsafe ccurl_loop_wanting(handle) != nil }

    /// The answers that wait for memory. The one that has waited longest comes first.
    var waitingAnswers: [WaitingAnswer] {
        var answers: [WaitingAnswer] = []
        var next = unsafe ccurl_loop_wanting(handle)
        while let transfer = unsafe next {
            answers.append(
                WaitingAnswer(
                    slot: unsafe ccurl_transfer_slot(transfer), wanted: Int(unsafe ccurl_transfer_wanted(transfer)),
                    since: UInt64(max(0, unsafe ccurl_transfer_room_since(transfer)))))
            unsafe next = ccurl_transfer_next_wanting(transfer)
        }
        return answers.sorted { ($0.since, $0.slot) < ($1.since, $1.slot) }
    }

    /// The slots of transfers that wait for bytes of a file.
    var slotsAwaitingFiles: [Int] {
        var slots: [Int] = []
        var transfer = unsafe ccurl_loop_awaiting(handle)
        while let waiting = unsafe transfer {
            unsafe slots.append(ccurl_transfer_slot(waiting))
            unsafe transfer = ccurl_transfer_next_awaiting(waiting)
        }
        return slots
    }
}

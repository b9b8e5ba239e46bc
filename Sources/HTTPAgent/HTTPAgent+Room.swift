// SPDX-License-Identifier: Apache-2.0
import CCurl

/// A call whose answer waits for memory of its owner.
public struct WaitingAnswer: Equatable, Sendable {
    /// The slot of the call.
    public var slot: Int
    /// How many bytes its answer has in all, or may have.
    public var wanted: Int
    /// Since when it waits, in nanoseconds of CLOCK_MONOTONIC.
    public var since: UInt64

    /// A waiting answer.
    public init(slot: Int, wanted: Int, since: UInt64) {
        self.slot = slot
        self.wanted = wanted
        self.since = since
    }
}

// A call keeps `answerRoom` bytes of its answer. Then its connection is not read until the owner grants more. This wait
// counts neither for the call's `timeout` nor for the speed of its server.
extension HTTPAgent {
    /// Whether an answer waits for memory.
    public var hasWaitingAnswers: Bool { unsafe ccurl_loop_wanting(loop) != nil }

    /// The answers that wait for memory. The one that has waited longest comes first.
    public func waitingAnswers() -> [WaitingAnswer] {
        var answers: [WaitingAnswer] = []
        var next = unsafe ccurl_loop_wanting(loop)
        while let transfer = unsafe next {
            answers.append(
                WaitingAnswer(
                    slot: unsafe ccurl_transfer_slot(transfer), wanted: Int(unsafe ccurl_transfer_wanted(transfer)),
                    since: UInt64(max(0, unsafe ccurl_transfer_room_since(transfer)))))
            unsafe next = ccurl_transfer_next_wanting(transfer)
        }
        return answers.sorted { ($0.since, $0.slot) < ($1.since, $1.slot) }
    }

    /// Lets a call keep so many bytes of its answer in all, and continues it.
    public func giveRoom(slot: Int, bytes: Int) {
        guard flights.indices.contains(slot), let flight = flights[slot] else { return }
        let code = unsafe ccurl_transfer_give_room(flight.transfer.handle, Int64(bytes))
        mayHaveFinished = true
        // libcurl no longer checks the limits of a call that was paused. So the agent checks them within a second.
        sweepAt = min(sweepAt, ccurl_now() + 1_000_000_000)
        if code != 0 { finish(slot, flight, end: .library(UInt32(code))) }
    }
}

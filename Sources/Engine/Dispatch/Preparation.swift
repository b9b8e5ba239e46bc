// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The jobs whose calls one transaction builds.
struct Preparation {
    /// A job by its slot. The lease shows whether the slot still holds it.
    struct Entry {
        var slot: Int
        var lease: Lease
        /// How many preparations with this job exceeded the time limit. Above 0 it goes alone.
        var overruns = 0
        /// How many preparations with this job waited for a lock. Above 0 it goes alone.
        var lockWaits = 0
        /// When the first wait for a lock ended.
        var waitsSince: UInt64 = 0
        /// How often the database has refused to prepare it alone.
        var refusals = 0
        /// The number of successful preparations when the database first refused this job; nil: it was not refused.
        var preparedBefore: UInt64?
        /// It is not prepared before this moment.
        var due: UInt64 = 0

        var goesAlone: Bool { overruns > 0 || lockWaits > 0 || refusals > 0 }

        /// Whether its slot still holds the job.
        func isHeld(in slots: SlotTable) -> Bool { slots.job(in: slot, lease) != nil }
    }

    let number: UInt64
    let entries: [Entry]
    /// Whether the statement waits only 20 ms for locks.
    let hasShortLockTimeout: Bool
}

/// The reaction to a failed preparation.
struct PreparationFailure {
    var recovery = ExchangeRecovery.none
    /// The jobs that are not called, each with its end. If its slot holds another job by now, the job was cancelled.
    var ended: [(entry: Preparation.Entry, verdict: Verdict)] = []
}

// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Asks for the names of tracks, which are labels of the worker's metrics. It is a duty.
final class LabelDuty {
    private let shared: SharedState
    private let duties: DutySession
    /// The tracks of the last question.
    private var asked: [Int32] = []

    /// A duty that has asked nothing.
    init(_ shared: SharedState, _ duties: DutySession) {
        self.shared = shared
        self.duties = duties
    }

    /// Asks for the tracks without names, if there are any.
    func send() {
        guard let metrics = shared.configuration.workerMetrics, !duties.awaits(.trackLabels) else { return }
        asked = metrics.tracksToName(now: shared.now)
        guard !asked.isEmpty else { return }
        StoreCalls.trackLabels(asked, into: &shared.parameters)
        duties.send(.trackLabels, StoreStatement.trackLabels)
    }

    /// Takes the names.
    func returned(_ result: borrowing PGResult) {
        shared.configuration.workerMetrics?.name(asked, StoreCalls.trackLabels(result))
    }
}

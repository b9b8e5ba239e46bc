// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The metrics of the whole fleet from the views. All workers return the same values.
enum FleetMetrics {
    /// Reads all families of the fleet.
    static func read(_ connection: borrowing PGConnection) throws(PGError) -> MetricsText {
        var metrics = MetricsText()
        try QueueMetrics.append(from: connection, to: &metrics)
        try LaneMetrics.append(from: connection, to: &metrics)
        try CredentialMetrics.append(from: connection, to: &metrics)
        try WorkerStateMetrics.append(from: connection, to: &metrics)
        try ClientMetrics.append(from: connection, to: &metrics)
        try RestoreMetrics.append(from: connection, to: &metrics)
        try FailureMetrics.append(from: connection, to: &metrics)
        try ScheduleMetrics.append(from: connection, to: &metrics)
        try MinuteMetrics.append(from: connection, to: &metrics)
        return metrics
    }
}

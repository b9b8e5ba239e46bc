// SPDX-License-Identifier: Apache-2.0

public import PGClient

// The parameters and rows of the statements for metrics.
extension StoreCalls {
    /// The labels of a track.
    public struct TrackLabels: Equatable, Sendable {
        /// The queue.
        public var queue: String
        /// The row of `lanes` that limits the lane; nil: none.
        public var laneGroup: String?

        /// Labels.
        public init(queue: String, laneGroup: String? = nil) {
            self.queue = queue
            self.laneGroup = laneGroup
        }
    }

    /// `track_labels` of these tracks.
    public static func trackLabels(_ tracks: [Int32], into parameters: inout PGParameters) {
        var array = PGArrayBuilder<Int32>()
        for track in tracks { array.append(track) }
        parameters.removeAll()
        parameters.append(array: array)
    }

    /// The rows of `track_labels`, by track.
    public static func trackLabels(_ result: borrowing PGResult) -> [Int32: TrackLabels] {
        var labels: [Int32: TrackLabels] = [:]
        for row in 0..<result.rowCount {
            labels[result.int32(row, TrackLabelColumn.track)] = TrackLabels(
                queue: result.text(row, TrackLabelColumn.queue),
                laneGroup: result.optionalText(row, TrackLabelColumn.laneGroup))
        }
        return labels
    }
}

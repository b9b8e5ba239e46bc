// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

extension StoreCalls {
    /// `survey` of these queues; empty: all queues.
    public static func survey(queues names: [String], _ step: SurveyCursor.Step, into parameters: inout PGParameters) {
        parameters.removeAll()
        queues(names, into: &parameters)
        parameters.append(int32: step.after)
        parameters.append(int32: step.limit)
        if let newest = step.newest { parameters.append(int32: newest) } else { parameters.appendNull(.int4) }
        if let above = step.above { parameters.append(int32: Int32(above)) } else { parameters.appendNull(.int4) }
        var tracks = PGArrayBuilder<Int32>()
        for floor in step.floors { tracks.append(floor.track) }
        parameters.append(array: tracks)
        parameters.append(int64s: step.floors.map(\.seq))
        parameters.append(int64: step.slice.after)
        parameters.append(int64: step.slice.end)
    }

    /// The rows of a survey. The row of track 0 contains where the next survey begins, and the newest track.
    public static func surveyFound(_ result: borrowing PGResult) -> SurveyCursor.Found {
        var found = SurveyCursor.Found()
        found.sightings.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            let track = result.int32(row, SurveyColumn.track)
            if track == 0 {
                found.after = Int32(clamping: result.int64(row, SurveyColumn.firstSeq))
                found.newest = result.int32(row, SurveyColumn.lane)
                continue
            }
            found.sightings.append(
                KnownTracks.Sighting(
                    track: track, priority: result.int16(row, SurveyColumn.priority),
                    firstSeq: result.int64(row, SurveyColumn.firstSeq),
                    lane: result.int32(row, SurveyColumn.lane), hasMore: result.bool(row, SurveyColumn.hasMore)))
        }
        return found
    }
}

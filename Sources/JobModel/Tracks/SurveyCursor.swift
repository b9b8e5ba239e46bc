// SPDX-License-Identifier: Apache-2.0

/// How far a worker has come in surveying all tracks with work. Pure.
///
/// A survey reads a bounded number of tracks and returns where the next one continues. So its cost does not grow with
/// the number of tracks.
public struct SurveyCursor: Sendable {
    /// The most tracks of one survey.
    static let stepLimit = 128
    /// The fewest tracks of one survey, even if fewer fit into the known tracks.
    static let leastStep = 16

    /// The range of tracks of one survey.
    public struct Step: Equatable, Sendable {
        /// It begins after this track.
        public var after: Int32
        /// It reads so many tracks.
        public var limit: Int32
        /// Tracks with a higher number are new.
        public var newest: Int32?
        /// Tracks of a higher priority come first.
        public var above: Int16?
        /// Tracks of which it reads the rows behind a floor, and one slice of the rows before it. All other tracks are
        /// read from their first row on.
        public var floors: [KnownTracks.Floor]
        /// This slice.
        public var slice: SurveySlices.Slice

        /// A step of so many tracks after `after`.
        public init(
            after: Int32, limit: Int32, newest: Int32?, above: Int16?, floors: [KnownTracks.Floor] = [],
            slice: SurveySlices.Slice = .all
        ) {
            self.after = after
            self.limit = limit
            self.newest = newest
            self.above = above
            self.floors = floors
            self.slice = slice
        }
    }

    /// The result of one survey.
    public struct Found: Equatable, Sendable {
        /// The tracks with work.
        public var sightings: [KnownTracks.Sighting] = []
        /// Where the next survey begins; 0 if this one has reached the end.
        public var after: Int32 = 0
        /// The newest track of the database.
        public var newest: Int32 = 0

        /// A result. By default it is complete and empty.
        public init(_ sightings: [KnownTracks.Sighting] = [], after: Int32 = 0, newest: Int32 = 0) {
            self.sightings = sightings
            self.after = after
            self.newest = newest
        }
    }

    private var after: Int32 = 0
    private var newest: Int32?
    private var slices = SurveySlices()
    /// The slice of the steps from the first track to the last one.
    private var slice = SurveySlices.Slice.all
    /// How long the longest of these steps took.
    private var longest: UInt64 = 0
    /// Whether a round begins at the first track, after the steps under way.
    private var roundIsWanted = false

    /// A cursor at the beginning.
    public init() {}

    /// How many slices the rows of busy tracks have.
    public var sliceCount: Int { slices.count }

    /// Whether all tracks, and all slices of their rows, have been read since the round began.
    public var isRoundComplete: Bool { after == 0 && !roundIsWanted && slices.isRoundComplete }

    /// Lets a round begin, which reads all tracks and all slices.
    public mutating func beginRound() { roundIsWanted = true }

    /// Lets one of the next surveys read a row that was probably committed late.
    public mutating func mayBeLate(_ seq: Int64) { slices.mayBeLate(seq) }

    /// The next step.
    public mutating func next(_ knownTracks: KnownTracks) -> Step {
        if after == 0 {
            if roundIsWanted { slices.beginRound() }
            roundIsWanted = false
            slice = slices.next()
            longest = 0
        }
        let room = min(SurveyCursor.stepLimit, KnownTracks.memoryLimit - knownTracks.count)
        return Step(
            after: after, limit: Int32(max(SurveyCursor.leastStep, room)), newest: newest,
            above: knownTracks.lowestPriority, floors: knownTracks.floors, slice: slice)
    }

    /// Takes the answer of a step.
    ///
    /// - Parameter took: nanoseconds.
    public mutating func returned(_ found: Found, of step: Step, took: UInt64) {
        after = found.after
        newest = found.newest
        longest = max(longest, took)
        guard after == 0 else { return }
        if let top = step.floors.map(\.seq).max() {
            slices.returned(slice, took: longest, top: top)
        } else {
            // The step has read all rows.
            slices = SurveySlices()
        }
    }
}

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
        /// Tracks that it reads only from a row on. Empty: all tracks are read from their first row on.
        public var floors: [KnownTracks.Floor]

        /// A step of so many tracks after `after`.
        public init(
            after: Int32, limit: Int32, newest: Int32?, above: Int16?, floors: [KnownTracks.Floor] = []
        ) {
            self.after = after
            self.limit = limit
            self.newest = newest
            self.above = above
            self.floors = floors
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

    /// A cursor at the beginning.
    public init() {}

    /// The next step.
    ///
    /// - Parameter isNarrow: whether it reads busy tracks only from their floors on.
    public func next(_ knownTracks: KnownTracks, isNarrow: Bool = false) -> Step {
        let room = min(SurveyCursor.stepLimit, KnownTracks.memoryLimit - knownTracks.count)
        return Step(
            after: after, limit: Int32(max(SurveyCursor.leastStep, room)), newest: newest,
            above: knownTracks.lowestPriority, floors: isNarrow ? knownTracks.floors : [])
    }

    /// Takes the answer of a survey.
    public mutating func returned(_ found: Found) {
        after = found.after
        newest = found.newest
    }
}

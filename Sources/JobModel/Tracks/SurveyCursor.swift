// SPDX-License-Identifier: Apache-2.0

/// How far a worker has come in looking at all tracks that hold work. Pure.
///
/// A survey looks at a bounded number of tracks and says where the next one goes on, so its cost does not grow with the
/// tracks.
public struct SurveyCursor: Sendable {
    /// Tracks of one survey, unless there is no room for as many.
    static let stepLimit = 128
    /// And at least so many.
    static let leastStep = 16

    /// The range of tracks of one survey.
    public struct Step: Equatable, Sendable {
        /// It begins behind this track.
        public var after: Int32
        /// It looks at so many tracks.
        public var limit: Int32
        /// Tracks with a higher number are new.
        public var newest: Int32?
        /// Tracks of a higher priority come first.
        public var above: Int16?

        /// So many tracks behind one of them.
        public init(after: Int32, limit: Int32, newest: Int32?, above: Int16?) {
            self.after = after
            self.limit = limit
            self.newest = newest
            self.above = above
        }
    }

    /// The result of one survey.
    public struct Found: Equatable, Sendable {
        /// Tracks with work.
        public var sightings: [KnownTracks.Sighting] = []
        /// Where the next one begins; 0: all tracks have been looked at.
        public var after: Int32 = 0
        /// The newest track there is.
        public var newest: Int32 = 0

        /// All tracks there are.
        public init(_ sightings: [KnownTracks.Sighting] = [], after: Int32 = 0, newest: Int32 = 0) {
            self.sightings = sightings
            self.after = after
            self.newest = newest
        }
    }

    private var after: Int32 = 0
    private var newest: Int32?

    /// At the beginning.
    public init() {}

    /// The next survey.
    public func next(_ knownTracks: KnownTracks) -> Step {
        let room = min(SurveyCursor.stepLimit, KnownTracks.memoryLimit - knownTracks.count)
        return Step(
            after: after, limit: Int32(max(SurveyCursor.leastStep, room)), newest: newest,
            above: knownTracks.lowestPriority)
    }

    /// A survey's answer is there.
    public mutating func returned(_ found: Found) {
        after = found.after
        newest = found.newest
    }
}

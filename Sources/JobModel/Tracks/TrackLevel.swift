// SPDX-License-Identifier: Apache-2.0

/// The tracks of one priority that hold work, in two lines.
///
/// *Regulars* are tracks that this worker has claimed from, *newcomers* are the others. If an INSERT names a lane for
/// each row, many new tracks arrive at once. A lane with many jobs would then get one turn for each of them. So while
/// newcomers are a crowd, each line gets half of the rows.
struct TrackLevel: Sendable {
    /// More newcomers than this count as a crowd.
    static let crowd = 16

    /// The lines that a plan reads.
    enum Lines {
        case both, regulars, newcomers
    }

    let priority: Int16
    private var newcomers = TrackRotation()
    private var regulars = TrackRotation()

    init(priority: Int16) { self.priority = priority }

    /// How many tracks stand in both lines.
    var count: Int { newcomers.count + regulars.count }

    func count(_ lines: Lines) -> Int {
        switch lines {
        case .both: count
        case .regulars: regulars.count
        case .newcomers: newcomers.count
        }
    }

    /// Whether a claim of so many rows would leave newcomers waiting.
    func isCrowded(limit: Int) -> Bool { newcomers.count > max(limit, TrackLevel.crowd) }

    /// Adds a track to the end of its line.
    mutating func join(_ track: Int32, ticket: UInt64, isRegular: Bool) {
        if isRegular { regulars.join(track, ticket: ticket) } else { newcomers.join(track, ticket: ticket) }
    }

    /// Records that the ticket of a track in this line is void.
    mutating func left(isRegular: Bool) {
        if isRegular { regulars.left() } else { newcomers.left() }
    }

    /// Takes the place that has waited longest, valid or not. Nil at the end. The caller lets a valid one join again or
    /// leave.
    mutating func next(_ lines: Lines) -> TrackRotation.Place? {
        switch lines {
        case .regulars: return regulars.next()
        case .newcomers: return newcomers.next()
        case .both:
            guard let regular = regulars.nextTicket else { return newcomers.next() }
            return newcomers.nextTicket.map { $0 < regular } ?? false ? newcomers.next() : regulars.next()
        }
    }

    /// See `TrackRotation.tidy`.
    mutating func tidy(_ isValid: (TrackRotation.Place) -> Bool) {
        newcomers.tidy(isValid)
        regulars.tidy(isValid)
    }
}

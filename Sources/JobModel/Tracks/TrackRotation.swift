// SPDX-License-Identifier: Apache-2.0

/// Tracks in the order in which they are to be visited: whoever was visited goes to the end.
///
/// A track leaves a line by being given another ticket; its old place is skipped when its turn comes. So joining,
/// leaving and taking a turn cost the same however long the line is.
struct TrackRotation: Sendable {
    /// A track's place.
    struct Place: Sendable {
        var track: Int32
        /// Valid while the track still holds this ticket.
        var ticket: UInt64
    }

    private var places: [Place] = []
    private var head = 0
    /// How many places are valid.
    private(set) var count = 0

    /// Joins the end.
    mutating func join(_ track: Int32, ticket: UInt64) {
        places.append(Place(track: track, ticket: ticket))
        count += 1
    }

    /// The track's ticket is void now.
    mutating func left() {
        count -= 1
    }

    /// The first place, valid or not; nil at the end. A valid one must join again or leave.
    mutating func next() -> Place? {
        guard head < places.count else { return nil }
        defer { head += 1 }
        return places[head]
    }

    /// The ticket of the first place, valid or not; nil at the end.
    var nextTicket: UInt64? { head < places.count ? places[head].ticket : nil }

    /// Drops the places that are behind and, once most are void, those too. `isValid` tells them apart.
    mutating func tidy(_ isValid: (Place) -> Bool) {
        let waiting = places.count - head
        if waiting > 2 * count + 64 {
            places = places[head...].filter(isValid)
            head = 0
        } else if head > waiting {
            places.removeFirst(head)
            head = 0
        }
    }
}

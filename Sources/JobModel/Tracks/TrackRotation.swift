// SPDX-License-Identifier: Apache-2.0

/// Tracks in the order of their visits. A visited track goes to the end.
///
/// A track leaves by getting another ticket, and its old place is skipped when its turn comes. So joining, leaving and
/// taking a turn have a constant cost.
struct TrackRotation: Sendable {
    /// The place of a track in the order.
    struct Place: Sendable {
        var track: Int32
        /// The place is valid while the track still holds this ticket.
        var ticket: UInt64
    }

    private var places: [Place] = []
    private var head = 0
    /// How many places are valid.
    private(set) var count = 0

    /// Adds a track at the end.
    mutating func join(_ track: Int32, ticket: UInt64) {
        places.append(Place(track: track, ticket: ticket))
        count += 1
    }

    /// Records that the ticket of a track is void.
    mutating func left() {
        count -= 1
    }

    /// Takes the first place, valid or not. Nil at the end. The caller lets a valid one join again or leave.
    mutating func next() -> Place? {
        guard head < places.count else { return nil }
        defer { head += 1 }
        return places[head]
    }

    /// The ticket of the first place, valid or not. Nil at the end.
    var nextTicket: UInt64? { head < places.count ? places[head].ticket : nil }

    /// Removes the places before the head. Once most places are void, it removes the void ones, too.
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

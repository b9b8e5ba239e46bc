// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JobModel

/// The steps of surveys over all tracks.
struct SurveyCursorTests {
    @Test func `a survey continues where the previous survey ended, with fewer tracks when memory is full`() {
        var cursor = SurveyCursor()
        var known = KnownTracks()
        let first = cursor.next(known)
        #expect(first == .init(after: 0, limit: 128, newest: nil, above: nil))
        let sightings = (1...128).map { KnownTracks.Sighting(track: $0, priority: Int16($0 % 3), firstSeq: 1) }
        cursor.returned(.init(sightings, after: 128, newest: 500), of: first, took: 1)
        known.surveyReturned(sightings)
        #expect(cursor.next(known) == .init(after: 128, limit: 128, newest: 500, above: 0))
        known.surveyReturned((200..<4_160).map { .init(track: $0, priority: 1, firstSeq: 1) })
        let last = cursor.next(known)
        #expect(last.limit == 16)
        cursor.returned(.init([], after: 0, newest: 600), of: last, took: 1)
        #expect(cursor.next(known).after == 0)
    }

    @Test func `a round that begins between two steps reads all tracks from the first one on`() {
        var cursor = SurveyCursor()
        let known = KnownTracks()
        cursor.returned(.init([], after: 128), of: cursor.next(known), took: 1)
        #expect(!cursor.isRoundComplete)
        cursor.beginRound()
        cursor.returned(.init([], after: 0), of: cursor.next(known), took: 1)
        #expect(!cursor.isRoundComplete)
        cursor.returned(.init([], after: 128), of: cursor.next(known), took: 1)
        cursor.returned(.init([], after: 0), of: cursor.next(known), took: 1)
        #expect(cursor.isRoundComplete)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JobModel

/// The slices that surveys read of busy tracks.
struct SurveySlicesTests {
    private static let millisecond: UInt64 = 1_000_000

    /// Surveys that take 1 ms, and 1 µs more for each dead row.
    private func read(
        _ slices: inout SurveySlices, surveys: Int, dead: Range<Int64>, top: Int64
    ) -> [SurveySlices.Slice] {
        (0..<surveys).map { _ in
            let slice = slices.next()
            guard slice != .none else {
                slices.returned(slice, took: Self.millisecond, top: top)
                return slice
            }
            let read = (slice.after..<max(slice.after, min(slice.end, top))).clamped(to: dead)
            slices.returned(slice, took: Self.millisecond + UInt64(read.count) * 1_000, top: top)
            return slice
        }
    }

    private func length(_ slice: SurveySlices.Slice, top: Int64) -> Int64 { min(slice.end, top) - slice.after }

    @Test func `without dead rows each survey reads all rows`() {
        var slices = SurveySlices()
        #expect(read(&slices, surveys: 3, dead: 0..<0, top: 1_000_000) == [.all, .all, .all])
    }

    @Test(arguments: [0, 1_000_000_000] as [Int64])
    func `a round of short surveys reads each row once, wherever the dead rows stand`(first: Int64) {
        var slices = SurveySlices()
        let top = first + 100_000
        _ = read(&slices, surveys: 400, dead: first..<top, top: top)
        let count = slices.count
        #expect((20..<80).contains(count))
        let surveys = read(&slices, surveys: count + 1, dead: first..<top, top: top).sorted { $0.after < $1.after }
        let round = surveys.dropLast()
        #expect(surveys.last == SurveySlices.Slice.none)
        #expect(round.first?.after == 0)
        #expect(round.last?.end == .max)
        #expect(zip(round, round.dropFirst()).allSatisfy { $0.end == $1.after })
        #expect(round.filter { $0.end > first }.allSatisfy { length($0, top: top) <= 5_000 || $0.after < first })
    }

    @Test func `the last slice grows with the floor and is halved`() {
        var slices = SurveySlices()
        var longest: Int64 = 0
        for top in stride(from: Int64(0), to: 200_000, by: 500) {
            for slice in read(&slices, surveys: 4, dead: 0..<top, top: top) {
                longest = max(longest, length(slice, top: top))
            }
        }
        #expect(slices.count > 30)
        #expect(longest < 20_000)
    }

    @Test func `slices are joined when the dead rows are gone`() {
        var slices = SurveySlices()
        _ = read(&slices, surveys: 400, dead: 0..<100_000, top: 100_000)
        #expect(slices.count > 20)
        _ = read(&slices, surveys: 400, dead: 0..<0, top: 100_000)
        #expect(slices.count == 1)
        #expect(slices.next() == .all)
    }

    @Test func `two slices remain if the tracks themselves take long`() {
        var slices = SurveySlices()
        for _ in 0..<50 { slices.returned(slices.next(), took: 20 * Self.millisecond, top: 100_000) }
        #expect(slices.count == 2)
    }

    @Test func `slices of late rows come first, but every second survey goes on with the round`() {
        var slices = SurveySlices()
        _ = read(&slices, surveys: 400, dead: 0..<100_000, top: 100_000)
        let count = slices.count
        slices.beginRound()
        var found = false
        for number in 0..<2 * (count + 1) {
            slices.mayBeLate(50_000)
            let slice = read(&slices, surveys: 1, dead: 0..<100_000, top: 100_000)[0]
            let isLate = slice.after < 50_000 && 50_000 <= slice.end
            if number < 2 { found = found || isLate }
        }
        #expect(found)
        #expect(slices.isRoundComplete)
    }

    @Test func `a survey under way does not count for a row that is announced meanwhile`() {
        var slices = SurveySlices()
        _ = read(&slices, surveys: 400, dead: 0..<100_000, top: 100_000)
        slices.mayBeLate(50_000)
        var reads = 0
        for _ in 0..<4 {
            let slice = slices.next()
            let isLate = slice.after < 50_000 && 50_000 <= slice.end
            if isLate, reads == 0 { slices.mayBeLate(50_000) }
            if isLate { reads += 1 }
            slices.returned(slice, took: 3 * Self.millisecond, top: 100_000)
        }
        #expect(reads == 2)
    }

    @Test func `a round is complete when each slice has been read`() {
        var slices = SurveySlices()
        #expect(slices.isRoundComplete)
        _ = read(&slices, surveys: 400, dead: 0..<100_000, top: 100_000)
        _ = read(&slices, surveys: slices.count + 1, dead: 0..<100_000, top: 100_000)
        slices.beginRound()
        _ = read(&slices, surveys: slices.count - 1, dead: 0..<100_000, top: 100_000)
        #expect(!slices.isRoundComplete)
        _ = read(&slices, surveys: 2, dead: 0..<100_000, top: 100_000)
        #expect(slices.isRoundComplete)
    }

    @Test func `there are at most 1024 slices`() {
        var slices = SurveySlices()
        for _ in 0..<10_000 {
            let slice = slices.next()
            slices.returned(slice, took: slice == .none ? 0 : 20 * Self.millisecond, top: 1 << 40)
        }
        #expect(slices.count == 1024)
    }
}

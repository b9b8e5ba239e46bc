// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Admin

/// The one-time tokens of forms.
struct FormTokensTests {
    private let tokens = FormTokens()

    @Test func `a token is valid once, for its actor only`() {
        let token = tokens.issue(to: "ada", for: "do=cancel&id=5", now: 100)
        #expect(tokens.verdict(on: token, from: "ada", now: 100) == .valid(subject: "do=cancel&id=5"))
        #expect(tokens.verdict(on: token, from: "bob", now: 100) == .foreign)
        #expect(!tokens.take(token, from: "bob", now: 100))
        #expect(tokens.take(token, from: "ada", now: 100))
        #expect(!tokens.take(token, from: "ada", now: 100))
        #expect(tokens.verdict(on: token, from: "ada", now: 100) == .unknown)
    }

    @Test func `a token ends after an hour`() {
        let token = tokens.issue(to: "ada", for: "x", now: 100)
        #expect(tokens.verdict(on: token, from: "ada", now: 3699) == .valid(subject: "x"))
        #expect(tokens.verdict(on: token, from: "ada", now: 3700) == .unknown)
        #expect(!tokens.take(token, from: "ada", now: 3700))
    }

    @Test func `changed, cut and invented tokens are unknown`() {
        let token = tokens.issue(to: "ada", for: "x", now: 0)
        let last = token.last == "0" ? "1" : "0"
        for text in [
            "", "-", "1-2", String(token.dropLast()), token + "0", String(token.dropLast()) + last,
            token.uppercased() + "x", String(token.prefix { $0 != "-" }) + "-" + String(repeating: "0", count: 64),
        ] {
            #expect(tokens.verdict(on: text, from: "ada", now: 0) == .unknown, "\(text)")
        }
        #expect(tokens.take(token, from: "ada", now: 0))
    }

    @Test func `the oldest tokens are dropped`() {
        let first = tokens.issue(to: "ada", for: "x", now: 0)
        let second = tokens.issue(to: "ada", for: "x", now: 0)
        for _ in 2...FormTokens.capacity { _ = tokens.issue(to: "ada", for: "x", now: 0) }
        #expect(tokens.verdict(on: first, from: "ada", now: 0) == .unknown)
        #expect(tokens.verdict(on: second, from: "ada", now: 0) == .valid(subject: "x"))
    }

    /// The comparison must not end at the first different byte. The times of both kinds of wrong secrets must be alike;
    /// noise of this machine is below half of a comparison of 32 bytes.
    @Test func `the time of the check does not depend on how much of a secret is right`() throws {
        let token = tokens.issue(to: "ada", for: "x", now: 0)
        let dash = try #require(token.firstIndex(of: "-"))
        let start = token.index(after: dash)
        func changed(_ place: String.Index) -> String {
            var text = token
            let digit = text[place] == "0" ? "1" : "0"
            text.replaceSubrange(place...place, with: digit)
            return text
        }
        let early = changed(start)
        let late = changed(token.index(before: token.endIndex))
        // CPU time is free of the time of other processes, the least of several rounds of their other effects.
        func time(_ text: String) -> Double {
            let start = TestClock.threadTime
            for _ in 0..<2000 where tokens.verdict(on: text, from: "ada", now: 0) != .unknown { break }
            return TestClock.threadTime - start
        }
        var times = (early: Double.infinity, late: Double.infinity)
        for _ in 0..<7 { times = (min(times.early, time(early)), min(times.late, time(late))) }
        let ratio = times.early / times.late
        #expect((0.8...1.25).contains(ratio), "\(times)")
    }
}

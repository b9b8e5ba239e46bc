// SPDX-License-Identifier: Apache-2.0

@testable import JobModel

/// One value of Retry-After and the like: the forms of waits and dates, and a block of headers.
enum WaitTarget {
    private static let now: Int64 = 1_790_000_000

    static func run(_ input: [UInt8]) throws(Finding) {
        let text = String(decoding: input, as: UTF8.self)
        for unit in [WaitingTime.Unit.seconds, .milliseconds] {
            guard let wait = WaitingTime.parse(text, unit: unit, now: now) else { continue }
            try expect(wait >= .zero && wait <= WaitingTime.longest, "a wait of \(wait)")
        }
        if let date = HTTPDate.parse(text, now: now) {
            // Years have four digits.
            try expect((-62_200_000_000...253_500_000_000).contains(date), "a date at \(date)")
        }
        if let date = InternetDate.parse(text) {
            try expect((-62_200_000_000...253_500_000_000).contains(date), "a date at \(date)")
        }
        for status in [200, 429] {
            let wait = RequestedWait(input, status: status, now: now)
            for found in [wait.retryAfter, wait.quotaReset] {
                if let found { try expect(found >= .zero && found <= WaitingTime.longest, "a wait of \(found)") }
            }
            if let unreadable = wait.unreadable {
                try expect(SanitizedText.escape(unreadable) == unreadable, "a message with control characters")
            }
        }
    }
}

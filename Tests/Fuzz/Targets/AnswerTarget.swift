// SPDX-License-Identifier: Apache-2.0

import CCurl
import CFuzzFeeds

@testable import HTTPAgent
@testable import JobModel

/// An answer: the callbacks of libcurl, then all readers of headers.
///
/// The first byte has flags, the second the size of the pieces of the body.
enum AnswerTarget {
    private static let now: Int64 = 1_790_000_000

    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let flags = reader.byte()
        let piece = Int(reader.byte()) + 1
        let bytes = Array(reader.rest)
        var answer = unsafe cfuzz_answer()
        guard unsafe cfuzz_answer_read(bytes, bytes.count, piece, flags & 2 == 0 ? 0 : 64, flags & 1 == 0, &answer)
        else { return }
        let block = unsafe Array(UnsafeBufferPointer(start: answer.headers, count: answer.headers_length))
        try checkForm(of: block)
        try unsafe expect(answer.body_length <= Int(CFUZZ_ANSWER_LIMIT), "the body exceeds its limit")
        if let location = unsafe answer.location {
            let text = unsafe Array(UnsafeRawBufferPointer(start: location, count: answer.location_length))
            try expect(!text.contains { [0, 0x0a, 0x0d].contains($0) }, "Location has a line break")
        }
        try unsafe read(block, status: Int(answer.status), hasWait: answer.has_wait)
    }

    /// Each line is `name: value` with a token in lower case, and has neither CR nor NUL.
    private static func checkForm(of block: [UInt8]) throws(Finding) {
        try expect(block.isEmpty || block.last == 0x0a, "the block does not end with a line")
        for line in block.split(separator: 0x0a) {
            let name = line.prefix { $0 != 0x3a }
            let isName = name.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) }
            try expect(isName && !name.isEmpty, "a name is no token in lower case")
            try expect(line.dropFirst(name.count).starts(with: [0x3a, 0x20]), "a line is no name: value")
            try expect(!line.contains { $0 == 0x0d || $0 == 0 }, "a value has CR or NUL")
        }
    }

    private static func read(_ block: [UInt8], status: Int, hasWait: Bool) throws(Finding) {
        let headers = AnswerHeaders(block: block)
        let clock = headers.clock(now: now)
        try expect(abs(clock - now) <= 86_400, "the clock is off by more than a day")
        if let length = headers.contentLength { try expect(length >= 0, "a negative length") }
        if let range = headers.contentRange {
            try expect(0 <= range.first && range.first <= range.last && range.last < range.total, "a broken range")
        }
        if let total = headers.unsatisfiedTotal { try expect(total >= 0, "a negative total") }
        _ = (headers.strongETag, headers.strongModified(now: now))
        let charset = ContentType(of: block)?.charset
        if let charset { try expect((1...40).contains(charset.utf8.count), "a charset of \(charset.utf8.count) bytes") }
        let wait = RequestedWait(block, status: status, now: clock)
        for found in [wait.retryAfter, wait.quotaReset] {
            if let found { try expect(found >= .zero && found <= WaitingTime.longest, "a wait of \(found)") }
        }
        let isNamed = wait.retryAfter != nil || wait.quotaReset != nil || wait.unreadable != nil
        try expect(hasWait || !isNamed, "a wait that the callbacks have not seen")
    }
}

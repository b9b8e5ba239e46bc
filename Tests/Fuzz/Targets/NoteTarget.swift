// SPDX-License-Identifier: Apache-2.0

import CFuzzFeeds
import Glibc

@testable import HTTPAgent

/// The note next to an incomplete download, which another program may have changed.
enum NoteTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        var durable: Int64 = 0
        var holder: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        guard unsafe cfuzz_note_read(input, input.count, &durable, &holder, &text) else { return }
        try expect(durable >= 0, "a negative number of durable bytes")
        try unsafe expect(holder.map { unsafe strchr($0, 0x0a) == nil } ?? true, "the holder has a line end")
        guard let text = unsafe text, let part = unsafe PartNote(text: String(cString: text)) else { return }
        try expect(PartNote(text: part.text) == part, "a note changes when it is written again")
        if let total = part.total { try expect(total >= 0, "a negative size") }
    }
}

// SPDX-License-Identifier: Apache-2.0

import CCoding
import Glibc

/// gzip and deflate: the names of the codings end with a zero byte, then the body follows.
///
/// Whole bodies and pieces must decode alike, with and without a limit of the room.
enum CodingTarget {
    /// The decoded bytes, and the room that is left.
    private final class Sink {
        var bytes: [UInt8] = []
        var room = Int64.max
    }

    private static let limit: Int64 = 1 << 20

    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let piece = Int(reader.byte()) + 1
        let codings = reader.bytes()
        let body = Array(reader.rest)
        let whole = decode(codings, body, piece: max(1, body.count), hasRoom: true)
        let pieces = decode(codings, body, piece: piece, hasRoom: true)
        let paused = decode(codings, body, piece: piece, hasRoom: false)
        guard let whole, let pieces, let paused else { return }
        try expect(whole == pieces, "pieces of \(piece) bytes decode differently")
        try expect(whole.bytes == paused.bytes && whole.result == paused.result, "a limited room decodes differently")
        try expect(whole.bytes.count <= Int(limit), "more bytes than the limit")
        try checkEncoder(body)
    }

    private struct Outcome: Equatable {
        var result: UInt32
        var bytes: [UInt8]
        var isInside: Bool
    }

    /// Nil if a coding is unknown.
    private static func decode(_ codings: [UInt8], _ body: [UInt8], piece: Int, hasRoom: Bool) -> Outcome? {
        guard let coding = unsafe ccoding_create() else { return nil }
        defer { unsafe ccoding_destroy(coding) }
        let isKnown = unsafe codings.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe ccoding_add(coding, start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard isKnown else { return nil }
        let sink = Sink()
        if !hasRoom { sink.room = 7 }
        var target = unsafe ccoding_target(
            context: Unmanaged.passUnretained(sink).toOpaque(),
            keep: { context, bytes, count in
                guard let context = unsafe context else { return false }
                let sink = unsafe Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
                unsafe sink.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
                return true
            }, room: nil, limit: limit)
        if !hasRoom {
            unsafe target.room = { context in
                guard let context = unsafe context else { return 0 }
                let sink = unsafe Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
                return sink.room - Int64(sink.bytes.count)
            }
        }
        var result = CCODING_FINE
        var rest = body[...]
        while !rest.isEmpty, result == CCODING_FINE {
            let part = Array(rest.prefix(piece))
            var left = 0
            result = unsafe part.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return CCODING_FINE }
                return unsafe ccoding_write(coding, &target, start, bytes.count, &left)
            }
            if left > 0 { sink.room = Int64(sink.bytes.count) + 1009 }
            rest = rest.dropFirst(part.count - left)
        }
        return Outcome(result: result.rawValue, bytes: sink.bytes, isInside: unsafe ccoding_is_inside(coding))
    }

    /// The decoder reads the output of the encoder.
    private static func checkEncoder(_ body: [UInt8]) throws(Finding) {
        var count = 0
        guard let packed = unsafe ccoding_gzip(body, body.count, &count) else { return }
        defer { unsafe free(packed) }
        let bytes = unsafe Array(UnsafeBufferPointer(start: packed, count: count))
        let outcome = decode(Array("gzip".utf8), bytes, piece: max(1, bytes.count), hasRoom: true)
        try expect(outcome?.bytes == body && outcome?.isInside == false, "a body does not survive gzip")
    }
}

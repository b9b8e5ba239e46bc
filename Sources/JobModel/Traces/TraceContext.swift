// SPDX-License-Identifier: Apache-2.0

/// The number of a trace: 128 bits.
public struct TraceID: Hashable, Sendable {
    /// The first half.
    public var high: UInt64
    /// The second half.
    public var low: UInt64

    /// A number from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// A place in a distributed trace, as W3C Trace Context describes it.
public struct TraceContext: Equatable, Sendable {
    /// The trace.
    public var trace: TraceID
    /// The span at this place; 0 if the trace begins here.
    public var span: UInt64
    /// The flags. Bit 0 means that the caller records the trace.
    public var flags: UInt8
    /// The values of vendors, passed on unchanged; empty: none.
    public var state: String

    /// Whether spans of the trace are recorded.
    public var isSampled: Bool { flags & 1 == 1 }

    /// A place from its parts.
    public init(trace: TraceID, span: UInt64, flags: UInt8 = 1, state: String = "") {
        self.trace = trace
        self.span = span
        self.flags = flags
        self.state = state
    }

    /// Reads a header `traceparent`. Nil if it is invalid: then it must be ignored.
    ///
    /// Version ff is invalid, and so are upper-case digits and numbers of zeros. A later version may have more fields
    /// at the end.
    public init?(traceparent: String, state: String = "") {
        let bytes = Array(traceparent.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
            let version = HexText.number(bytes[0..<2]), version != 0xff,
            let high = HexText.number(bytes[3..<19]), let low = HexText.number(bytes[19..<35]),
            let span = HexText.number(bytes[36..<52]), let flags = HexText.number(bytes[53..<55]),
            bytes.count == 55 || version > 0 && bytes[55] == dash, high | low != 0, span != 0
        else { return nil }
        self.init(trace: TraceID(high: high, low: low), span: span, flags: UInt8(flags), state: state)
    }

    /// The header `traceparent`, in version 00. Of the flags it has those that this version knows.
    public var traceparent: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(55)
        bytes += "00-".utf8
        HexText.append(trace.high, to: &bytes)
        HexText.append(trace.low, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        HexText.append(span, to: &bytes)
        bytes += "-0".utf8
        bytes.append(UInt8(ascii: "0") + flags & 3)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Numbers in lower-case hex.
public enum HexText {
    /// Appends 16 digits.
    public static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 0xf
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
    }

    /// The number. Nil if a byte is no lower-case digit.
    static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

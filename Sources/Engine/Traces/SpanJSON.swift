// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Writes the JSON of a span byte by byte. A job with a trace has two spans with 20 attributes. To collect these first
/// and to join texts took 127,000 instructions, more than all other work for the job.
struct SpanJSON {
    /// The JSON so far.
    private(set) var bytes: [UInt8] = []

    /// An empty text. It has room for most spans: the span of an attempt has about 750 bytes.
    init() { bytes.reserveCapacity(1024) }

    /// Adds text that is JSON already.
    mutating func add(_ json: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    /// Adds a text as a JSON string.
    mutating func add(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        JSONText.append(escaping: text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds a number as a JSON string: OTLP writes 64-bit numbers so.
    mutating func add<Number: FixedWidthInteger>(quoted number: Number) {
        bytes.append(UInt8(ascii: "\""))
        add(number: number)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds a number.
    mutating func add<Number: FixedWidthInteger>(number: Number) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = UInt64(number.magnitude)
        let first = bytes.count
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest > 0
        var last = bytes.count - 1
        var place = first
        while place < last {
            bytes.swapAt(place, last)
            place += 1
            last -= 1
        }
    }

    /// Adds a number as a JSON string of 16 hex digits.
    mutating func add(hex number: UInt64) {
        bytes.append(UInt8(ascii: "\""))
        HexText.append(number, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds the number of a trace as a JSON string of 32 hex digits.
    mutating func add(hex trace: TraceID) {
        bytes.append(UInt8(ascii: "\""))
        HexText.append(trace.high, to: &bytes)
        HexText.append(trace.low, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

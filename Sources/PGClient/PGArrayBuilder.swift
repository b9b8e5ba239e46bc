// SPDX-License-Identifier: Apache-2.0

/// A type that a one-dimensional array parameter can hold.
public protocol PGArrayElement {
    /// The type of one element.
    static var elementType: PGType { get }
    /// The type of the array.
    static var arrayType: PGType { get }
}

/// A `timestamptz` in binary form: microseconds since 2000-01-01 00:00 UTC.
public struct PGTimestamp: Hashable, Sendable, PGArrayElement {
    /// Microseconds since 2000-01-01 00:00 UTC.
    public var microseconds: Int64

    /// A moment in PostgreSQL's microseconds.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// `timestamptz`.
    public static var elementType: PGType { .timestamptz }
    /// `timestamptz[]`.
    public static var arrayType: PGType { .timestamptzArray }
}

extension Int64: PGArrayElement {
    /// `int8`.
    public static var elementType: PGType { .int8 }
    /// `int8[]`.
    public static var arrayType: PGType { .int8Array }
}

extension Int32: PGArrayElement {
    /// `int4`.
    public static var elementType: PGType { .int4 }
    /// `int4[]`.
    public static var arrayType: PGType { .int4Array }
}

extension Int16: PGArrayElement {
    /// `int2`.
    public static var elementType: PGType { .int2 }
    /// `int2[]`.
    public static var arrayType: PGType { .int2Array }
}

extension Bool: PGArrayElement {
    /// `bool`.
    public static var elementType: PGType { .bool }
    /// `bool[]`.
    public static var arrayType: PGType { .boolArray }
}

extension Double: PGArrayElement {
    /// `float8`.
    public static var elementType: PGType { .float8 }
    /// `float8[]`.
    public static var arrayType: PGType { .float8Array }
}

extension String: PGArrayElement {
    /// `text`.
    public static var elementType: PGType { .text }
    /// `text[]`.
    public static var arrayType: PGType { .textArray }
}

extension [UInt8]: PGArrayElement {
    /// `bytea`.
    public static var elementType: PGType { .bytea }
    /// `bytea[]`.
    public static var arrayType: PGType { .byteaArray }
}

/// One array parameter, built element by element. It can be reused, with one builder per column of `unnest($1, $2, …)`.
///
/// `String` is `text[]`, `[UInt8]` is `bytea[]`. Elements are stored in binary form, so `PGParameters.append(array:)`
/// is one memcpy.
public struct PGArrayBuilder<Element: PGArrayElement>: ~Copyable {
    /// How many elements it has, NULL included.
    public private(set) var count = 0
    private var hasNull = false
    private var buffer = PGBuffer()

    /// An empty array.
    public init() {}

    /// Empties the array and keeps its memory (up to 1 MiB).
    public mutating func removeAll() {
        count = 0
        hasNull = false
        buffer.removeAll()
    }

    /// Adds a NULL.
    public mutating func appendNull() {
        hasNull = true
        count &+= 1
        buffer.append(Int32(-1))
    }

    /// Writes the array in the binary form of `array_recv`: number of dimensions, NULL flag, element type, count, lower
    /// bound, then length and bytes of each element.
    func write(to target: inout PGBuffer) {
        target.append(Int32(count == 0 ? 0 : 1))
        target.append(Int32(hasNull ? 1 : 0))
        target.append(Element.elementType.rawValue)
        guard count > 0 else { return }
        target.append(Int32(count))
        target.append(Int32(1))
        target.append(buffer)
    }

    private mutating func store<Integer: FixedWidthInteger>(_ value: Integer) {
        count &+= 1
        buffer.append(Int32(MemoryLayout<Integer>.size))
        buffer.append(value)
    }

    private mutating func store(bytes: UnsafeRawBufferPointer) {
        count &+= 1
        buffer.append(Int32(bytes.count))
        unsafe buffer.append(bytes)
    }
}

extension PGArrayBuilder where Element == Int64 {
    /// Adds an element.
    public mutating func append(_ value: Int64) { store(value) }
}

extension PGArrayBuilder where Element == Int32 {
    /// Adds an element.
    public mutating func append(_ value: Int32) { store(value) }
}

extension PGArrayBuilder where Element == Int16 {
    /// Adds an element.
    public mutating func append(_ value: Int16) { store(value) }
}

extension PGArrayBuilder where Element == Bool {
    /// Adds an element.
    public mutating func append(_ value: Bool) { store(UInt8(value ? 1 : 0)) }
}

extension PGArrayBuilder where Element == Double {
    /// Adds an element.
    public mutating func append(_ value: Double) { store(value.bitPattern) }
}

extension PGArrayBuilder where Element == PGTimestamp {
    /// Adds an element.
    public mutating func append(_ value: PGTimestamp) { store(value.microseconds) }
}

extension PGArrayBuilder where Element == String {
    /// Adds an element. A NUL character in it makes the server refuse the whole statement (22021).
    public mutating func append(_ value: String) {
        var value = value
        value.withUTF8 { unsafe store(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Adds an element from UTF-8 bytes. For other bytes the server refuses the whole statement (22021).
    public mutating func append(utf8 bytes: UnsafeRawBufferPointer) { unsafe store(bytes: bytes) }
}

extension PGArrayBuilder where Element == [UInt8] {
    /// Adds an element of any bytes, NUL included.
    public mutating func append(_ value: [UInt8]) {
        unsafe value.withUnsafeBytes { unsafe store(bytes: $0) }
    }

    /// Adds an element from memory that is borrowed for the call.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) { unsafe store(bytes: bytes) }
}

// SPDX-License-Identifier: Apache-2.0

/// One parameter that is an array of a composite type, built field by field. It can be reused, and `unnest($1)` returns
/// its rows.
///
/// The server reads it ten times faster than an array for each column. Fields are stored in binary form, so
/// `PGParameters.append(rows:)` is one memcpy.
///
/// Each row must have the fields of the type in order, with their types (`record_recv`). Otherwise the server refuses
/// the statement (42804). The place of the parameter in the statement determines the composite type.
public struct PGRowArrayBuilder: ~Copyable {
    /// The number of rows.
    public private(set) var count = 0
    private let fields: Int32
    private var rowStart = 0
    private var buffer = PGBuffer()

    /// An empty array of a type with so many fields.
    public init(fields: Int32) {
        self.fields = fields
        writeHeader()
    }

    /// Removes all rows, and keeps up to 1 MiB of memory.
    public mutating func removeAll() {
        count = 0
        buffer.removeAll()
        writeHeader()
    }

    /// Reserves memory for a row of about so many bytes.
    public mutating func reserve(_ bytes: Int) { buffer.reserve(bytes) }

    /// Begins a row, whose fields follow.
    public mutating func beginRow() {
        rowStart = buffer.count
        buffer.append(Int32(0))
        buffer.append(fields)
    }

    /// Ends the row that was begun.
    public mutating func endRow() {
        count &+= 1
        buffer.replace(at: 3 * MemoryLayout<Int32>.size, with: Int32(count))
        buffer.replace(at: rowStart, with: Int32(buffer.count - rowStart - MemoryLayout<Int32>.size))
    }

    /// A NULL of this type.
    public mutating func appendNull(_ type: PGType) {
        buffer.append(type.rawValue)
        buffer.append(Int32(-1))
    }

    /// A `smallint`.
    public mutating func append(int16 value: Int16?) { integer(value, .int2) }

    /// An `integer`.
    public mutating func append(int32 value: Int32?) { integer(value, .int4) }

    /// A `bigint`.
    public mutating func append(int64 value: Int64?) { integer(value, .int8) }

    /// A `boolean`.
    public mutating func append(bool value: Bool?) { integer(value.map { UInt8($0 ? 1 : 0) }, .bool) }

    /// A `"char"`: one byte.
    public mutating func append(letter value: Unicode.Scalar?) {
        integer(value.map { UInt8(truncatingIfNeeded: $0.value) }, .char)
    }

    /// A `text`. For a NUL character in it the server refuses the whole statement (22021).
    public mutating func append(text value: String?) {
        guard var value else { return appendNull(.text) }
        buffer.append(PGType.text.rawValue)
        value.withUTF8 { bytes in
            buffer.append(Int32(bytes.count))
            unsafe buffer.append(UnsafeRawBufferPointer(bytes))
        }
    }

    /// A `bytea` of any bytes, NUL included.
    public mutating func append(bytes value: [UInt8]?) {
        guard let value else { return appendNull(.bytea) }
        buffer.append(PGType.bytea.rawValue)
        buffer.append(Int32(value.count))
        unsafe value.withUnsafeBytes { unsafe buffer.append($0) }
    }

    /// Writes the head of the binary form of `array_recv`: number of dimensions, NULL flag, element type, count, lower
    /// bound. `endRow` sets the count.
    /// PostgreSQL checks the element type of its built-in types only.
    private mutating func writeHeader() {
        buffer.append(Int32(1))
        buffer.append(Int32(0))
        buffer.append(PGType.unspecified.rawValue)
        buffer.append(Int32(0))
        buffer.append(Int32(1))
    }

    /// The array in binary form if it has at least 1 MiB. Valid until the next change.
    var large: UnsafeRawBufferPointer? {
        guard buffer.count >= PGBuffer.keptCapacity else { return nil }
        return unsafe UnsafeRawBufferPointer(start: buffer.base, count: buffer.count)
    }

    /// Appends the array in binary form.
    func write(to target: inout PGBuffer) {
        guard count == 0 else { return target.append(buffer) }
        // An empty array has no dimension.
        target.append(Int32(0))
        target.append(Int32(0))
        target.append(PGType.unspecified.rawValue)
    }

    private mutating func integer<Integer: FixedWidthInteger>(_ value: Integer?, _ type: PGType) {
        guard let value else { return appendNull(type) }
        buffer.append(type.rawValue)
        buffer.append(Int32(MemoryLayout<Integer>.size))
        buffer.append(value)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The parameters of one statement in binary form, `$1` first. It can be reused.
///
/// All values are in one growing block. `nil` is NULL of the type. C: `PQsendQueryParams`.
@safe public struct PGParameters: ~Copyable {
    @safe private struct Field {
        var offset: Int
        /// The length in bytes; -1 is NULL.
        var length: Int32
        var isText: Bool
        /// The address of a value that is not in the block.
        var address: UnsafeRawPointer?

        init(offset: Int, length: Int32, isText: Bool = false) {
            self.offset = offset
            self.length = length
            self.isText = isText
            unsafe address = nil
        }

        init(_ value: UnsafeRawBufferPointer) {
            offset = 0
            length = Int32(value.count)
            isText = false
            unsafe address = value.baseAddress
        }
    }

    private var buffer = PGBuffer()
    private var fields: [Field] = []
    private var types: [Oid] = []
    private var formats: [CInt] = []
    private var lengths: [CInt] = []
    private var pointers: [UnsafePointer<CChar>?] = unsafe []

    /// No parameters.
    public init() {}

    /// How many parameters there are.
    public var count: Int { fields.count }

    /// Removes all parameters, and keeps up to 1 MiB of memory.
    public mutating func removeAll() {
        buffer.removeAll()
        fields.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
    }

    /// Appends a NULL. Without a type the server infers it.
    public mutating func appendNull(_ type: PGType = .unspecified) {
        fields.append(Field(offset: buffer.count, length: -1))
        types.append(type.rawValue)
    }

    /// A `smallint`.
    public mutating func append(int16 value: Int16?) { integer(value, .int2) }

    /// An `integer`.
    public mutating func append(int32 value: Int32?) { integer(value, .int4) }

    /// A `bigint`.
    public mutating func append(int64 value: Int64?) { integer(value, .int8) }

    /// A `boolean`.
    public mutating func append(bool value: Bool?) { integer(value.map { UInt8($0 ? 1 : 0) }, .bool) }

    /// A `double precision`.
    public mutating func append(float8 value: Double?) { integer(value?.bitPattern, .float8) }

    /// A `timestamptz`.
    public mutating func append(timestamp value: PGTimestamp?) { integer(value?.microseconds, .timestamptz) }

    /// A `text`. The server refuses a NUL character in it (22021).
    public mutating func append(text value: String?) {
        guard let value else { return appendNull(.text) }
        field(.text) { $0.append(text: value) }
    }

    /// A text whose type the server infers, such as an enum label, json, interval, uuid or inet.
    ///
    /// It is sent in text format, so any type with an input function accepts it.
    public mutating func append(inferred value: String?) {
        guard let value else { return appendNull() }
        field(.unspecified, isText: true) {
            $0.append(text: value)
            // libpq reads text format up to the NUL, and ignores the length.
            $0.append(UInt8(0))
        }
    }

    /// A `jsonb` from its text.
    public mutating func append(jsonb value: String?) {
        guard let value else { return appendNull(.jsonb) }
        field(.jsonb) {
            // The version of jsonb's binary form. Only version 1 exists.
            $0.append(UInt8(1))
            $0.append(text: value)
        }
    }

    /// A `bytea`.
    public mutating func append(bytes value: [UInt8]?) {
        guard let value else { return appendNull(.bytea) }
        field(.bytea) { buffer in
            unsafe value.withUnsafeBytes { unsafe buffer.append($0) }
        }
    }

    /// A `bytea` from memory that is borrowed for the call.
    public mutating func append(bytes value: UnsafeRawBufferPointer) {
        field(.bytea) { unsafe $0.append(value) }
    }

    /// An array, in one memcpy. The builder can be reused at once.
    public mutating func append<Element: PGArrayElement>(array: borrowing PGArrayBuilder<Element>) {
        let start = buffer.count
        array.write(to: &buffer)
        fields.append(Field(offset: start, length: Int32(buffer.count - start)))
        types.append(Element.arrayType.rawValue)
    }

    /// An array of rows, in one memcpy. The server infers its type from its place in the statement.
    ///
    /// Rows of 1 MiB and more are not copied. They must stay unchanged until the statement is sent.
    public mutating func append(rows: borrowing PGRowArrayBuilder) {
        if let value = unsafe rows.large {
            unsafe fields.append(Field(value))
            types.append(PGType.unspecified.rawValue)
            return
        }
        let start = buffer.count
        rows.write(to: &buffer)
        fields.append(Field(offset: start, length: Int32(buffer.count - start)))
        types.append(PGType.unspecified.rawValue)
    }

    /// An array from values, for statements that are not hot.
    public mutating func append(int64s values: [Int64]) {
        var array = PGArrayBuilder<Int64>()
        for value in values { array.append(value) }
        append(array: array)
    }

    /// An array from values, for statements that are not hot.
    public mutating func append(texts values: [String]) {
        var array = PGArrayBuilder<String>()
        for value in values { array.append(value) }
        append(array: array)
    }

    private mutating func integer<Integer: FixedWidthInteger>(_ value: Integer?, _ type: PGType) {
        guard let value else { return appendNull(type) }
        fields.append(Field(offset: buffer.count, length: Int32(MemoryLayout<Integer>.size)))
        types.append(type.rawValue)
        buffer.append(value)
    }

    private mutating func field(_ type: PGType, isText: Bool = false, _ write: (inout PGBuffer) -> Void) {
        let start = buffer.count
        write(&buffer)
        fields.append(Field(offset: start, length: Int32(buffer.count - start), isText: isText))
        types.append(type.rawValue)
    }

    /// The parallel arrays for libpq, valid inside the closure only.
    @unsafe struct Raw {
        var count: CInt
        var types: UnsafePointer<Oid>?
        var values: UnsafePointer<UnsafePointer<CChar>?>?
        var lengths: UnsafePointer<CInt>?
        var formats: UnsafePointer<CInt>?
    }

    /// Lends the parameters to libpq. It copies only addresses.
    mutating func withRaw<Value>(_ body: (Raw) -> Value) -> Value {
        unsafe pointers.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        for field in fields {
            let start = unsafe field.address ?? UnsafeRawPointer(buffer.base + field.offset)
            let address = unsafe start.assumingMemoryBound(to: CChar.self)
            unsafe pointers.append(field.length < 0 ? nil : address)
            lengths.append(max(field.length, 0))
            formats.append(field.isText ? 0 : 1)
        }
        let count = CInt(fields.count)
        return unsafe types.withUnsafeBufferPointer { types in
            unsafe pointers.withUnsafeBufferPointer { pointers in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(
                            Raw(
                                count: count, types: types.baseAddress, values: pointers.baseAddress,
                                lengths: lengths.baseAddress, formats: formats.baseAddress))
                    }
                }
            }
        }
    }
}

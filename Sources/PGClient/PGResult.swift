// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The rows of one statement in binary form. They are freed with the value.
///
/// Rows and columns count from 0. A getter for the wrong type stops a debug build. A release build then returns 0 or an
/// empty value, as for NULL. C: `PQgetvalue`, `PQclear`.
@safe public struct PGResult: ~Copyable {
    private let raw: OpaquePointer

    /// Takes ownership of the result.
    init(owning raw: OpaquePointer) {
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe PQclear(raw)
    }

    /// The number of rows. C: `PQntuples`.
    public var rowCount: Int { Int(unsafe PQntuples(raw)) }

    /// The number of columns. C: `PQnfields`.
    public var columnCount: Int { Int(unsafe PQnfields(raw)) }

    /// The index of a column; nil if no column has this name. C: `PQfnumber`.
    public func column(_ name: String) -> Int? {
        let index = unsafe PQfnumber(raw, name)
        return index < 0 ? nil : Int(index)
    }

    /// The name of a column. C: `PQfname`.
    public func name(ofColumn column: Int) -> String {
        unsafe PQfname(raw, CInt(column)).map { unsafe String(cString: $0) } ?? ""
    }

    /// The type of a column. C: `PQftype`.
    public func type(ofColumn column: Int) -> PGType {
        PGType(rawValue: unsafe PQftype(raw, CInt(column)))
    }

    /// Whether the value is NULL. C: `PQgetisnull`.
    public func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(raw, CInt(row), CInt(column)) != 0
    }

    /// A `smallint`.
    public func int16(_ row: Int, _ column: Int) -> Int16 {
        Int16(truncatingIfNeeded: int64(row, column))
    }

    /// An `integer` (or a `smallint`).
    public func int32(_ row: Int, _ column: Int) -> Int32 {
        Int32(truncatingIfNeeded: int64(row, column))
    }

    /// A `bigint`, or any smaller integer.
    public func int64(_ row: Int, _ column: Int) -> Int64 {
        let value = unsafe bytesOf(row, column)
        switch value.count {
        case 8: return unsafe Int64(bigEndian: value.loadUnaligned(as: Int64.self))
        case 4: return unsafe Int64(Int32(bigEndian: value.loadUnaligned(as: Int32.self)))
        case 2: return unsafe Int64(Int16(bigEndian: value.loadUnaligned(as: Int16.self)))
        case let size:
            assert(size == 0, "column \(column) is no integer")
            return 0
        }
    }

    /// A `boolean`.
    public func bool(_ row: Int, _ column: Int) -> Bool {
        let value = unsafe bytesOf(row, column)
        assert(value.count <= 1, "column \(column) is no boolean")
        return unsafe value.count == 1 && value[0] != 0
    }

    /// A `double precision` (or a `real`).
    public func float8(_ row: Int, _ column: Int) -> Double {
        let value = unsafe bytesOf(row, column)
        switch value.count {
        case 8: return unsafe Double(bitPattern: UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)))
        case 4: return unsafe Double(Float(bitPattern: UInt32(bigEndian: value.loadUnaligned(as: UInt32.self))))
        case let size:
            assert(size == 0, "column \(column) is no float")
            return 0
        }
    }

    /// A `timestamptz`.
    public func timestamp(_ row: Int, _ column: Int) -> PGTimestamp {
        PGTimestamp(microseconds: int64(row, column))
    }

    /// An `interval` in microseconds, with days of 24 hours and months of 30 days. Nil for NULL.
    public func microseconds(_ row: Int, _ column: Int) -> Int64? {
        let value = unsafe bytesOf(row, column)
        guard value.count == 16 else {
            assert(unsafe value.isEmpty, "column \(column) is no interval")
            return nil
        }
        let time = unsafe Int64(bigEndian: value.loadUnaligned(as: Int64.self))
        let days = unsafe Int32(bigEndian: value.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        let months = unsafe Int32(bigEndian: value.loadUnaligned(fromByteOffset: 12, as: Int32.self))
        return time &+ (Int64(days) &+ Int64(months) &* 30) &* 86_400_000_000
    }

    /// A `text`, or another type whose binary form is its text: varchar, name, json, enums.
    public func text(_ row: Int, _ column: Int) -> String {
        unsafe String(decoding: bytesOf(row, column), as: UTF8.self)
    }

    /// A `text` that may be NULL.
    public func optionalText(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    /// An integer that may be NULL.
    public func optionalInt64(_ row: Int, _ column: Int) -> Int64? {
        isNull(row, column) ? nil : int64(row, column)
    }

    /// The text of a `jsonb`.
    public func jsonb(_ row: Int, _ column: Int) -> String {
        unsafe String(decoding: bytesOf(row, column).dropFirst(), as: UTF8.self)
    }

    /// A `bytea`, or the binary form of any type.
    public func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        unsafe [UInt8](bytesOf(row, column))
    }

    /// The size of a value in bytes, 0 for NULL. C: `PQgetlength`.
    public func byteCount(_ row: Int, _ column: Int) -> Int { unsafe bytesOf(row, column).count }

    /// Appends a `bytea` to an array.
    public func append(_ row: Int, _ column: Int, to array: inout [UInt8]) {
        unsafe array.append(contentsOf: bytesOf(row, column))
    }

    /// A `uuid` in its usual text form, in lower case.
    public func uuid(_ row: Int, _ column: Int) -> String {
        let value = unsafe bytesOf(row, column)
        guard value.count == 16 else { return "" }
        let digits = StaticString("0123456789abcdef")
        return unsafe String(unsafeUninitializedCapacity: 36) { out in
            var at = 0
            for index in 0..<16 {
                let byte = unsafe value[index]
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    unsafe out[at] = UInt8(ascii: "-")
                    at += 1
                }
                unsafe out[at] = unsafe digits.utf8Start[Int(byte >> 4)]
                unsafe out[at + 1] = unsafe digits.utf8Start[Int(byte & 15)]
                at += 2
            }
            return at
        }
    }

    /// Lends the value's bytes without a copy, valid inside the closure only. Empty for NULL.
    ///
    /// A NUL byte follows the last one, so a text can be given to C.
    public func withUnsafeBytes<Value, Failure: Error>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe body(bytesOf(row, column))
    }

    func bytesOf(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let start = unsafe PQgetvalue(raw, CInt(row), CInt(column))
        let length = unsafe PQgetlength(raw, CInt(row), CInt(column))
        return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(length))
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The getters of `PGResult`, by a named column.
extension PGResult {
    /// Whether the value is NULL.
    @inlinable
    public func isNull(_ row: Int, _ column: some PGColumn) -> Bool { isNull(row, column.rawValue) }

    /// A `smallint`.
    @inlinable
    public func int16(_ row: Int, _ column: some PGColumn) -> Int16 { int16(row, column.rawValue) }

    /// An `integer` (or a `smallint`).
    @inlinable
    public func int32(_ row: Int, _ column: some PGColumn) -> Int32 { int32(row, column.rawValue) }

    /// A `bigint`, or any smaller integer.
    @inlinable
    public func int64(_ row: Int, _ column: some PGColumn) -> Int64 { int64(row, column.rawValue) }

    /// A `boolean`.
    @inlinable
    public func bool(_ row: Int, _ column: some PGColumn) -> Bool { bool(row, column.rawValue) }

    /// A `double precision` (or a `real`).
    @inlinable
    public func float8(_ row: Int, _ column: some PGColumn) -> Double { float8(row, column.rawValue) }

    /// A `timestamptz`.
    @inlinable
    public func timestamp(_ row: Int, _ column: some PGColumn) -> PGTimestamp { timestamp(row, column.rawValue) }

    /// An `interval` in microseconds. Nil for NULL.
    @inlinable
    public func microseconds(_ row: Int, _ column: some PGColumn) -> Int64? { microseconds(row, column.rawValue) }

    /// A `text`, or another type whose binary form is its text: varchar, name, json, enums.
    @inlinable
    public func text(_ row: Int, _ column: some PGColumn) -> String { text(row, column.rawValue) }

    /// A `text` that may be NULL.
    @inlinable
    public func optionalText(_ row: Int, _ column: some PGColumn) -> String? { optionalText(row, column.rawValue) }

    /// An integer that may be NULL.
    @inlinable
    public func optionalInt64(_ row: Int, _ column: some PGColumn) -> Int64? { optionalInt64(row, column.rawValue) }

    /// The text of a `jsonb`.
    @inlinable
    public func jsonb(_ row: Int, _ column: some PGColumn) -> String { jsonb(row, column.rawValue) }

    /// A `bytea`, or the binary form of any type.
    @inlinable
    public func bytes(_ row: Int, _ column: some PGColumn) -> [UInt8] { bytes(row, column.rawValue) }

    /// The size of a value in bytes, 0 for NULL.
    @inlinable
    public func byteCount(_ row: Int, _ column: some PGColumn) -> Int { byteCount(row, column.rawValue) }

    /// A `uuid` in its usual text form, in lower case.
    @inlinable
    public func uuid(_ row: Int, _ column: some PGColumn) -> String { uuid(row, column.rawValue) }

    /// A `bigint[]`; NULL elements are 0.
    @inlinable
    public func int64s(_ row: Int, _ column: some PGColumn) -> [Int64] { int64s(row, column.rawValue) }

    /// An `integer[]`; NULL elements are 0.
    @inlinable
    public func int32s(_ row: Int, _ column: some PGColumn) -> [Int32] { int32s(row, column.rawValue) }

    /// A `text[]`; NULL elements are empty.
    @inlinable
    public func texts(_ row: Int, _ column: some PGColumn) -> [String] { texts(row, column.rawValue) }

    /// A `bytea[]`; NULL elements are empty.
    @inlinable
    public func byteArrays(_ row: Int, _ column: some PGColumn) -> [[UInt8]] { byteArrays(row, column.rawValue) }

    /// Appends a `bytea` to an array.
    @inlinable
    public func append(_ row: Int, _ column: some PGColumn, to array: inout [UInt8]) {
        append(row, column.rawValue, to: &array)
    }
}

// SPDX-License-Identifier: Apache-2.0

extension PGResult {
    /// A `bigint[]`; NULL elements are 0.
    public func int64s(_ row: Int, _ column: Int) -> [Int64] {
        var values: [Int64] = []
        unsafe elements(row, column) { count in
            values.reserveCapacity(count)
        } each: { element in
            values.append(unsafe element.count == 8 ? Int64(bigEndian: element.loadUnaligned(as: Int64.self)) : 0)
        }
        return values
    }

    /// An `integer[]`; NULL elements are 0.
    public func int32s(_ row: Int, _ column: Int) -> [Int32] {
        var values: [Int32] = []
        unsafe elements(row, column) { count in
            values.reserveCapacity(count)
        } each: { element in
            values.append(unsafe element.count == 4 ? Int32(bigEndian: element.loadUnaligned(as: Int32.self)) : 0)
        }
        return values
    }

    /// A `text[]`; NULL elements are empty.
    public func texts(_ row: Int, _ column: Int) -> [String] {
        var values: [String] = []
        unsafe elements(row, column) { count in
            values.reserveCapacity(count)
        } each: { element in
            values.append(unsafe String(decoding: element, as: UTF8.self))
        }
        return values
    }

    /// A `bytea[]`; NULL elements are empty.
    public func byteArrays(_ row: Int, _ column: Int) -> [[UInt8]] {
        var values: [[UInt8]] = []
        unsafe elements(row, column) { count in
            values.reserveCapacity(count)
        } each: { element in
            values.append(unsafe [UInt8](element))
        }
        return values
    }

    /// Reads an array of any shape in storage order. It stops at the first byte that does not fit the form.
    private func elements(
        _ row: Int, _ column: Int, begin: (Int) -> Void, each: (UnsafeRawBufferPointer) -> Void
    ) {
        let value = unsafe bytesOf(row, column)
        var at = 0
        func word() -> Int? {
            guard at + 4 <= value.count else { return nil }
            defer { at += 4 }
            return unsafe Int(Int32(bigEndian: value.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        guard let dimensions = word(), word() != nil, word() != nil, dimensions > 0 else { return }
        var count = 1
        for _ in 0..<dimensions {
            guard let size = word(), word() != nil, size >= 0 else { return }
            let (product, overflow) = count.multipliedReportingOverflow(by: size)
            // Each element needs at least four bytes, so a larger count is not valid.
            guard !overflow, product <= value.count / 4 else { return }
            count = product
        }
        begin(count)
        for _ in 0..<count {
            guard let length = word() else { return }
            guard length > 0 else {
                unsafe each(UnsafeRawBufferPointer(start: nil, count: 0))
                continue
            }
            guard at + length <= value.count else { return }
            unsafe each(UnsafeRawBufferPointer(rebasing: value[at..<at + length]))
            at += length
        }
    }
}

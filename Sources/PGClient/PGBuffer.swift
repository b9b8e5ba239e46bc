// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A growable block of bytes in network byte order: the storage of parameters and arrays.
///
/// A raw block is used instead of `[UInt8]`. An append is one compare and one store (about 2 ns), and libpq gets the
/// address without a closure for each parameter.
@safe struct PGBuffer: ~Copyable {
    /// The most memory that a reused buffer keeps: 1 MiB. A batch of large bodies must not hold its memory permanently.
    static let keptCapacity = 1 << 20

    private(set) var base: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = capacity
        unsafe base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe base.deallocate()
    }

    mutating func removeAll() {
        count = 0
        guard capacity > Self.keptCapacity else { return }
        unsafe base.deallocate()
        capacity = 256
        unsafe base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        let size = MemoryLayout<Integer>.size
        reserve(size)
        unsafe base.storeBytes(of: value.bigEndian, toByteOffset: count, as: Integer.self)
        count &+= size
    }

    /// Overwrites a value that was appended before.
    mutating func replace<Integer: FixedWidthInteger>(at offset: Int, with value: Integer) {
        unsafe base.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Integer.self)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return }
        reserve(bytes.count)
        unsafe memcpy(base + count, start, bytes.count)
        count &+= bytes.count
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ other: borrowing PGBuffer) {
        unsafe append(UnsafeRawBufferPointer(start: other.base, count: other.count))
    }

    /// Reserves memory for so many more bytes.
    mutating func reserve(_ more: Int) {
        if count &+ more > capacity { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let wanted = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
        unsafe memcpy(larger, base, count)
        unsafe base.deallocate()
        unsafe base = larger
        capacity = wanted
    }
}

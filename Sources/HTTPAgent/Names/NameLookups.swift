// SPDX-License-Identifier: Apache-2.0
import CResolver

/// Threads that look names up. C: `cresolver_lookups`.
@safe final class NameLookups {
    private let handle: OpaquePointer
    /// Readable when answers are available.
    let descriptor: Int32

    /// Starts the threads. Nil without memory or descriptors.
    init?() {
        guard let handle = unsafe cresolver_lookups_create() else { return nil }
        unsafe self.handle = handle
        descriptor = unsafe cresolver_lookups_descriptor(handle)
    }

    deinit { unsafe cresolver_lookups_destroy(handle) }

    /// Begins to look a name up. False if the name server is slow.
    func ask(_ ticket: UInt64, for host: String, port: Int) -> Bool {
        unsafe cresolver_lookups_ask(handle, ticket, host, Int32(port))
    }

    /// Makes the descriptor unreadable until the next answer, and collects the answers for `next`.
    func drain() { unsafe cresolver_lookups_drain(handle) }

    /// The next answer: its ticket, and the address of the host as an entry of CURLOPT_RESOLVE.
    ///
    /// The entry is nil if it cannot be used. It is valid until the next call.
    func next() -> (ticket: UInt64, entry: UnsafePointer<CChar>?)? {
        var ticket: UInt64 = 0
        var entry: UnsafePointer<CChar>?
        guard unsafe cresolver_lookups_next(handle, &ticket, &entry) else { return nil }
        return unsafe (ticket, entry)
    }
}

// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The handles for calls: idle handles with default settings, and a pool for each transport.
final class TransferPools {
    private let loop: CurlLoop
    /// How many idle transports are kept.
    private let keptTransports: Int
    private var idle: [CurlTransfer] = []
    private var transports: [Transport: TransportPool] = [:]
    private var transportUses = 0

    /// The most idle handles. To create one costs about as much as a small call.
    private static let idleHandles = 256

    /// Empty pools. Handles are created when they are needed.
    init(in loop: CurlLoop, keptTransports: Int) {
        self.loop = loop
        self.keptTransports = keptTransports
    }

    /// An idle or new handle. The pools of a transport are created with its first call.
    func take(for transport: Transport?) throws(CallRefusal) -> CurlTransfer {
        if let transport { return try take(from: pool(of: transport)) }
        guard let transfer = idle.popLast() ?? CurlTransfer(in: loop) else {
            throw CallRefusal(.internal, "libcurl could not create a handle: out of memory")
        }
        return transfer
    }

    private func take(from pool: TransportPool) throws(CallRefusal) -> CurlTransfer {
        guard let transfer = pool.takeIdle() ?? CurlTransfer(in: loop, pool: pool) else {
            throw CallRefusal(.internal, "libcurl could not create a handle for the service's transport: out of memory")
        }
        transportUses += 1
        pool.lastUse = transportUses
        pool.inUse += 1
        return transfer
    }

    private func pool(of transport: Transport) throws(CallRefusal) -> TransportPool {
        if let known = transports[transport] { return known }
        forgetTransports()
        let pool = try TransportPool(transport, in: loop)
        transports[transport] = pool
        return pool
    }

    /// Makes room for one more transport: closes the connections of the transport that has been idle for longest.
    private func forgetTransports() {
        guard transports.count >= keptTransports else { return }
        let unused = transports.filter { $0.value.inUse == 0 }
        if let oldest = unused.min(by: { $0.value.lastUse < $1.value.lastUse }) { transports[oldest.key] = nil }
    }

    /// Keeps a handle for later calls, unless it is spent or there are enough.
    func giveBack(_ transfer: CurlTransfer) {
        transfer.stop()
        transfer.clear()
        if let pool = transfer.pool {
            pool.inUse -= 1
            if !transfer.isSpent { pool.giveBack(transfer) }
        } else if !transfer.isSpent, idle.count < TransferPools.idleHandles {
            idle.append(transfer)
        }
    }

    /// Destroys all idle handles, then the transports. No handle may be in use.
    func removeAll() {
        idle.removeAll()
        transports.removeAll()
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The earliest of some deadlines, nil if all are nil. It allocates no memory.
func earliest<let count: Int>(_ deadlines: InlineArray<count, UInt64?>) -> UInt64? {
    var moment = UInt64.max
    for place in deadlines.indices { moment = min(moment, deadlines[place] ?? .max) }
    return moment == .max ? nil : moment
}

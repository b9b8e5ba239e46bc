// SPDX-License-Identifier: Apache-2.0

/// The earliest of some deadlines, nil if there is none. It allocates no memory.
func earliest<let count: Int>(_ deadlines: InlineArray<count, UInt64?>) -> UInt64? {
    var moment = UInt64.max
    for place in deadlines.indices { moment = min(moment, deadlines[place] ?? .max) }
    return moment == .max ? nil : moment
}

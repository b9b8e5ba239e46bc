// SPDX-License-Identifier: Apache-2.0

/// A set of HTTP statuses, as in `ok_statuses`.
public struct StatusRanges: Equatable, Sendable {
    private var ranges: [Range<Int32>]

    /// 200 to 299.
    public static let success = StatusRanges(bounds: [200, 300])

    /// Reads lower, upper, lower, upper, … The upper bounds are excluded. An odd last bound is ignored.
    public init(bounds: [Int32]) {
        ranges = stride(from: 0, to: bounds.count - 1, by: 2).compactMap { index in
            bounds[index] < bounds[index + 1] ? bounds[index]..<bounds[index + 1] : nil
        }
    }

    /// Whether a status is in the set.
    public func contains(_ status: Int) -> Bool {
        ranges.contains { $0.contains(Int32(clamping: status)) }
    }
}

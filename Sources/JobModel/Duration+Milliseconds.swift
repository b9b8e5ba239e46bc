// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in milliseconds, without the part below one.
    ///
    /// Dividing by `.milliseconds(1)` computes in `Double` instead, which for 272 hours is a millisecond less.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

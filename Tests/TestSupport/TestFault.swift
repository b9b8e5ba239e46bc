// SPDX-License-Identifier: Apache-2.0

/// A part of a test did not start, or a condition did not come true in time.
public struct TestFault: Error, CustomStringConvertible {
    /// The failure in words.
    public let description: String
}

// SPDX-License-Identifier: Apache-2.0

/// The numbers of exchanges, preparations and questions. No number is used twice.
struct StatementNumbers {
    private var next: UInt64 = 1

    mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }
}

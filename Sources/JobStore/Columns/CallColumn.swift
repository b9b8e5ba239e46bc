// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of a call, which `claim` and `prepare` share. `CallReader` reads them.
protocol CallColumn: PGColumn {
    static var method: Self { get }
    static var url: Self { get }
    static var query: Self { get }
    static var headers: Self { get }
    static var bodyKind: Self { get }
    static var body: Self { get }
    static var form: Self { get }
    static var timeoutMs: Self { get }
    static var maxResponse: Self { get }
    static var okStatuses: Self { get }
}

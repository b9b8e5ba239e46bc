// SPDX-License-Identifier: Apache-2.0

/// PostgreSQL 17's `transaction_timeout`, which ends the session instead of the statement (25P04). A role or database
/// may set it for other programs.
public enum TransactionTimeout {
    /// An expression that turns it off, for the session or for the transaction only.
    ///
    /// The running transaction has no limit after either. The result is null on a server without the setting. It does
    /// not check the version, since a pooler may report another one.
    public static func off(isLocal: Bool) -> String {
        "case when current_setting('transaction_timeout', true) is not null "
            + "then set_config('transaction_timeout', '0', \(isLocal)) end"
    }
}

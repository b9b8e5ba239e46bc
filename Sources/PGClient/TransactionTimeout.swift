// SPDX-License-Identifier: Apache-2.0

/// PostgreSQL 17's `transaction_timeout`, which ends the session and not the statement: 25P04. A role or database may
/// have one that is meant for others than a worker.
public enum TransactionTimeout {
    /// An expression that switches it off, for the session or for the transaction alone; the running transaction has no
    /// limit any more either way. Null for a server that does not know it: no version is asked for, since a pooler may
    /// tell another one.
    public static func off(isLocal: Bool) -> String {
        "case when current_setting('transaction_timeout', true) is not null "
            + "then set_config('transaction_timeout', '0', \(isLocal)) end"
    }
}

// SPDX-License-Identifier: Apache-2.0

/// By what a database compares its texts, knows their letters and digits, and makes them large and small.
public enum TestLocale: String, Sendable {
    /// Turkish, by ICU.
    case turkish = "locale_provider icu icu_locale 'tr'"
    /// All of Unicode, by PostgreSQL 18 itself.
    case unicode = "locale_provider builtin builtin_locale 'PG_UNICODE_FAST'"

    /// One in which the digits of every script are digits.
    public static var ofAllDigits: TestLocale {
        get throws { try TestCluster.version >= 18 ? .unicode : .turkish }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The locale by which a database compares texts, classifies characters, and changes case.
///
/// The raw value is the text of its options in CREATE DATABASE.
public enum TestLocale: String, Sendable {
    /// Turkish, by ICU.
    case turkish = "locale_provider icu icu_locale 'tr'"
    /// All of Unicode, by the built-in provider of PostgreSQL 18.
    case unicode = "locale_provider builtin builtin_locale 'PG_UNICODE_FAST'"

    /// A locale in which the digits of every script are digits.
    public static var ofAllDigits: TestLocale {
        get throws { try TestCluster.version >= 18 ? .unicode : .turkish }
    }
}

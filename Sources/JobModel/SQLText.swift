// SPDX-License-Identifier: Apache-2.0

/// Writes texts as SQL.
public enum SQLText {
    /// The text as a literal. PostgreSQL reads it alike with `standard_conforming_strings` on and off.
    public static func quoted(_ text: String) -> String {
        let doubled = text.replacing("'", with: "''")
        return text.contains("\\") ? "E'\(doubled.replacing("\\", with: "\\\\"))'" : "'\(doubled)'"
    }
}

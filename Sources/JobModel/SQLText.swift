// SPDX-License-Identifier: Apache-2.0

/// Writes texts as SQL.
public enum SQLText {
    /// The text as a literal. PostgreSQL reads it alike with `standard_conforming_strings` on and off.
    public static func quoted(_ text: String) -> String {
        let doubled = ByteText.replace("'", with: "''", in: text)
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return "'\(doubled)'" }
        return "E'\(ByteText.replace("\\", with: "\\\\", in: doubled))'"
    }
}

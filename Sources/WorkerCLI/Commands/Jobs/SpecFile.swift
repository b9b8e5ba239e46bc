// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A file with the spec of a job, batch or chain, as `submit` and `preview` read it.
enum SpecFile {
    /// `postrider.submit` accepts 1 MB. Commands read up to 2 MiB, so that a text between the two limits gets the
    /// server's message.
    private static let limit = 2 << 20

    /// The text of a file, or of standard input for `-`.
    static func read(_ path: String) throws(CommandError) -> String {
        guard let bytes = try Terminal.read(path, limit: limit) else {
            throw .usage("FILE \(quoted(path))", "longer than 1 MB", "give at most 1 MB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("FILE \(quoted(path))", "not UTF-8", "give one JSON object in UTF-8")
        }
        if text.allSatisfy(\.isWhitespace) { throw .usage("FILE \(quoted(path))", "is empty", example) }
        return text
    }

    private static let example = "give one JSON object, like {\"url\": \"https://api.example.com/ping\"}"

    private enum DefectColumn: Int, PGColumn {
        case line, reason

        var sql: StaticString {
            switch self {
            case .line: "line::text as line"
            case .reason: "reason"
            }
        }
    }

    /// The defect of a text that is not JSON: file, line and reason. Nil for JSON.
    ///
    /// PostgreSQL's error would quote the text, which may hold passwords. So this check comes before the submit.
    static func defect(
        _ text: String, _ path: String, _ connection: borrowing PGConnection
    ) throws(CommandError) -> CommandError? {
        var parameters = PGParameters()
        parameters.append(text: text)
        do throws(PGError) {
            let found = try connection.query(
                "select \(DefectColumn.selectList) from postrider_internal.json_defect($1)", &parameters)
            guard let line = found.optionalText(0, DefectColumn.line) else { return nil }
            return .usage(
                "FILE \(quoted(path)), line \(line)", "not JSON: \(found.text(0, DefectColumn.reason))", example)
        } catch {
            throw Database.failure(error)
        }
    }
}

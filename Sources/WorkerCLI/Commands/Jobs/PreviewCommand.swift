// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `worker preview FILE|-`: shows the requests of a spec without inserting it.
enum PreviewCommand {
    /// The columns of `postrider.preview`, with headers and `open` as one text each.
    private enum Column: Int, PGColumn {
        case place, method, url, headers, body, open

        var sql: StaticString {
            switch self {
            case .place: "p.place"
            case .method: "p.method"
            case .url: "p.url"
            case .headers: "h.headers"
            case .body: "p.body"
            case .open: "nullif(array_to_string(p.open, ', '), '') as open"
            }
        }
    }

    static let spec = CommandSpec(
        name: "preview", group: .jobs,
        summary: "show the requests that a JSON file would make, and insert nothing",
        example: "preview chain.json",
        operands: [
            CommandSpec.Operand(
                name: "FILE", meaning: "a file with one JSON object, or - for standard input", values: .files)
        ],
        flags: [Database.flag],
        details: [
            "The object is the spec of postrider.submit. It is checked as submit checks it.",
            "Secrets are shown as ***. The last line of a request lists what is only known later.",
        ],
        run: { (arguments) throws(CommandError) in
            let text = try SpecFile.read(arguments.operands[0])
            let connection = try Database.open(arguments)
            if let defect = try SpecFile.defect(text, arguments.operands[0], connection) { throw defect }
            var parameters = PGParameters()
            parameters.append(text: text)
            let result = try Database.query(statement, &parameters, connection)
            Terminal.write((0..<result.rowCount).map { block(result, $0) }.joined(separator: "\n"))
            return .clean
        })

    private static let statement = """
        select \(Column.selectList)
          from postrider.preview($1::jsonb) p
         cross join lateral (
               select string_agg(h.key || ': ' || e.value, E'\\n' order by h.key, e.nth) as headers
                 from jsonb_each(p.headers) h
                cross join lateral jsonb_array_elements_text(
                      case jsonb_typeof(h.value) when 'array' then h.value else jsonb_build_array(h.value) end)
                      with ordinality e (value, nth)) h
        """

    /// One request: its place, request line, headers, body, and what is open.
    private static func block(_ result: borrowing PGResult, _ row: Int) -> String {
        let head =
            "# \(result.optionalText(row, Column.place) ?? "$")\n\(result.optionalText(row, Column.method) ?? "")"
            + " \(result.optionalText(row, Column.url) ?? "")\n"
        let headers = result.optionalText(row, Column.headers).map { $0 + "\n" } ?? ""
        let body = result.optionalText(row, Column.body).map { "\n\($0)\n" } ?? ""
        let open = result.optionalText(row, Column.open).map { "\n# known later: \($0)\n" } ?? ""
        return head + headers + body + open
    }
}

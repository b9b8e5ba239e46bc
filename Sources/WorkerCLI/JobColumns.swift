// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of `job_status` as commands show them: with masked secrets in the URL and in headers.
enum JobColumns {
    /// The SELECT list, in the order of the view, which has the alias `s`.
    static func masked(_ connection: borrowing PGConnection, without left: String? = nil) throws(PGError) -> String {
        var parameters = PGParameters()
        parameters.append(text: left ?? "")
        return try connection.query(
            """
            select string_agg(case a.attname
                     when 'url' then 'postrider_internal.url_with_masked_query(s.url, ''{}'') as url'
                     when 'response_headers'
                       then 'postrider_internal.masked_json(s.response_headers) as response_headers'
                     else format('s.%I', a.attname) end, ', ' order by a.attnum) as value
            from pg_attribute a
            where a.attrelid = 'postrider.job_status'::regclass and a.attnum > 0 and a.attname <> $1
            """, &parameters
        ).text(0, PGValueColumn.value)
    }
}

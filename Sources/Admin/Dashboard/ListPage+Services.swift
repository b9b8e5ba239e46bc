// SPDX-License-Identifier: Apache-2.0

/// Where calls go: services with their servers, operations and credentials.
extension ListPage {
    static let services = Plan(
        title: "Services", question: "Where do calls go, and which server has been set aside?",
        fields: [.init("service", "service")], charted: "service",
        sections: [
            Section(
                columns: [
                    Column("service", .service, "service"), Column("environment", .text, "environment"),
                    Column(
                        "state", .state,
                        "case state when 'all servers aside' then 'aside' when 'active' then 'active' end"),
                    Column("calls go to", .code, "base_url"), Column("servers", .number, "nullif(servers, 0)"),
                    Column("servers in use", .number, "case when servers > 0 then servers_active end"),
                    Column("calls", .number, "case when servers > 0 then calls end"),
                    Column("errors", .number, "case when servers > 0 then errors end"),
                    Column("stub", .text, "case when has_stub then 'answers all calls' end"),
                ],
                from: "from postrider.service_status", order: "order by service, environment",
                conditions: ["service": "service"], limit: 200, empty: "There is no service. Describe an API once:",
                example: """
                    insert into postrider.services (name, base_url, headers)
                    values ('billing', 'https://billing.example.com/v1', '{"Accept": "application/json"}');
                    """,
                links: {
                    ListPage.links(
                        $0["service"], "service",
                        [("jobs", "/jobs"), ("failures", "/failures"), ("operations", "/operations")])
                }),
            Section(
                title: "Servers",
                columns: [
                    Column("service", .service, "service"), Column("environment", .text, "environment"),
                    Column("position", .number, "d ->> 'position'"),
                    Column("base URL", .code, "postrider_internal.url_without_login(d ->> 'base_url')"),
                    Column("state", .state, "d ->> 'state'"),
                    Column("preferred", .text, "case when (d ->> 'is_preferred')::boolean then 'yes' end"),
                    Column("next probe", .moment, "(d ->> 'open_until')::timestamptz"),
                    Column("calls", .number, "d ->> 'calls'"), Column("errors", .number, "d ->> 'errors'"),
                ],
                from: "from postrider.service_status cross join lateral jsonb_array_elements(server_details) d",
                order: "order by service, environment, (d ->> 'position')::int", conditions: ["service": "service"],
                empty: "No service has several servers. Add two, and a failing one is set aside:",
                example: """
                    insert into postrider.servers (service, environment, position, base_url)
                    values ('billing', 'release', 1, 'https://eu.billing.example.com/v1'),
                           ('billing', 'release', 2, 'https://us.billing.example.com/v1');
                    """,
                acts: { row in
                    guard let service = row["service"], let environment = row["environment"],
                        let position = row["position"]
                    else { return [] }
                    return [
                        ActionLink(
                            act: "switch-server", label: "switch to it",
                            target: [("service", service), ("environment", environment), ("position", position)])
                    ]
                }),
        ])

    static let operations = Plan(
        title: "Operations", question: "Which requests are described once, and what do they take?",
        fields: [.init("operation", "operation"), .init("service", "service")],
        sections: [
            Section(
                columns: [
                    Column("operation", .operation, "name"), Column("service", .service, "service"),
                    Column("description", .text, "description"),
                    Column(
                        "request", .code,
                        """
                        case when spec ? 'chain' then 'chain' when spec ? 'batch' or spec ? 'each' then 'batch'
                             else concat_ws(' ', coalesce(spec ->> 'method', 'GET'),
                               postrider_internal.url_with_masked_query(
                                 postrider_internal.url_without_login(spec ->> 'url'), '{}')) end
                        """),
                    Column("arguments", .code, "left(nullif(arguments, '{}')::text, 400)"),
                    Column("revision", .number, "revision"), Column("changed", .moment, "updated_at"),
                ],
                from: "from postrider.operations", order: "order by name",
                conditions: ["operation": "name", "service": "service"], limit: 500,
                empty: "There is no operation. Describe a request once, and call it with arguments:",
                example: """
                    insert into postrider.operations (name, arguments, spec)
                    values ('get user', '{"id": "number"}', '{"url": "https://api.example.com/users/{{arg.id}}"}');
                    select postrider.call('get user', '{"id": 7}');
                    """,
                links: { ListPage.links($0["operation"], "operation", [("jobs", "/jobs"), ("failures", "/failures")]) })
        ])

    static let credentials = Plan(
        title: "Credentials", question: "Which login is refused, expired or waits for its refresh?",
        sections: [
            Section(
                columns: [
                    Column("credential", .text, "name"), Column("kind", .text, "kind"),
                    Column("state", .state, "case when hold_reason is not null then 'refused' else state end"),
                    Column("version", .number, "version"),
                    Column("expires", .moment, "expires_at"),
                    Column("jobs waiting", .number, "nullif(jobs_waiting, 0)"),
                    Column("refreshes", .number, "refreshes"), Column("last refresh", .moment, "last_refresh_at"),
                    Column("failures", .number, "failures"), Column("next attempt", .moment, "next_try_at"),
                    Column("why", .text, "concat_ws('; ', hold_reason, last_error)"),
                ],
                from: "from postrider.credential_status",
                order: "order by state = 'active' and hold_reason is null, name",
                empty: "There is no credential. Make one and log in:",
                example: """
                    insert into postrider.credentials (name, kind, allowed_origins)
                    values ('billing', 'bearer', '{https://billing.example.com}');
                    select postrider.log_in('billing', '{"access_token": "…"}');
                    """,
                acts: { row in
                    guard let name = row["credential"], row["state"] != "logged_off" else { return [] }
                    return [ActionLink(act: "log-out", label: "log out", target: [("credential", name)])]
                })
        ])
}

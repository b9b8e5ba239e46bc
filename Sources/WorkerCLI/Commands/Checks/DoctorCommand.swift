// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `worker doctor`: checks everything that a worker with these flags needs, and names remedies.
enum DoctorCommand {
    static let spec = CommandSpec(
        name: "doctor", group: .checks,
        summary: "check connection, schema, clocks, libcurl and limits, and say what to repair",
        example: "doctor --concurrency 64 --http 127.0.0.1:9464",
        flags: RunConfiguration.flags,
        details: [
            "It takes the flags and variables of run and changes nothing. Ends with 0 without faults, with 1 otherwise,",
            "with 69 or 78 if the database cannot be used.",
        ],
        run: { (arguments) throws(CommandError) in
            let configuration = try RunConfiguration(arguments)
            var findings = MachineCheckup.findings(
                concurrency: configuration.concurrency, memory: configuration.memory)
            let palette = Palette(arguments.environment)
            Terminal.write(findings, palette)
            let connection = try Database.connect(arguments, readsOnly: true)
            func report(_ more: [Finding]) {
                Terminal.write(more, palette)
                findings += more
            }
            // Rights are checked before the schema: a role without rights cannot read the schema.
            let missing = try Database.missingRight(connection)
            report(
                try asking { () throws(PGError) in
                    try ServerCheckup.findings(connection, runsJobs: missing == nil)
                })
            if let missing {
                let rights = try asking { () throws(PGError) in
                    try RightsCheckup.finding(connection, lacking: missing)
                }
                report([rights])
                if rights.grade == .fault { return .failed }
            } else {
                let pooler = try asking { () throws(PGError) in
                    try PoolerCheckup.finding(
                        connection, PGConnectionString(configuration.database),
                        usesPreparedStatements: configuration.usesPreparedStatements)
                }
                if let pooler { report([pooler]) }
                if let hidden = try Database.rowSecurity(connection) {
                    report([Finding(.fault, "row security", hidden.text)])
                    if hidden.hidesHistory { return .failed }
                }
            }
            try Database.check(connection)
            report([Finding(.ok, "schema", "matches this program")])
            report(
                try asking { () throws(PGError) in
                    missing == nil
                        ? try FleetCheckup.findings(connection, configuration)
                        : try FleetCheckup.findings(connection)
                })
            if missing == nil {
                report(try asking { () throws(PGError) in try SequenceCheckup.findings(connection) })
            }
            return findings.contains { $0.grade == .fault } ? .failed : .clean
        })

    /// Runs queries. An error becomes the command's error.
    private static func asking<Value>(_ body: () throws(PGError) -> Value) throws(CommandError) -> Value {
        do throws(PGError) {
            return try body()
        } catch {
            throw Database.failure(error)
        }
    }
}

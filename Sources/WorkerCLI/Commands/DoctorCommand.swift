// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `worker doctor`: looks at all that a worker with these flags would need, and says what to mend.
enum DoctorCommand {
    static let spec = CommandSpec(
        name: "doctor",
        summary: "look at connection, schema, clocks, libcurl and limits, and say what to mend",
        flags: RunConfiguration.flags,
        details: [
            "Takes the flags and the environment of run and changes nothing. Ends with 0 if nothing is a fault, with 1 if",
            "something is, with 69 or 78 if the database cannot be reached or its schema is not the one of this program.",
        ],
        run: { (arguments) throws(CommandError) in
            let configuration = try RunConfiguration(arguments)
            let machine = MachineCheckup.findings(concurrency: configuration.concurrency)
            Terminal.write(machine)
            let connection = try Database.connect(arguments, readsOnly: true)
            let server: [Finding]
            do throws(PGError) {
                server = try ServerCheckup.findings(connection)
            } catch {
                throw Database.failure(error)
            }
            Terminal.write(server)
            // Before the schema: who has no right in it cannot look at it.
            let role: String?
            do throws(PGError) {
                role = try Database.roleWithoutWork(connection)
            } catch {
                throw Database.failure(error)
            }
            if let role {
                Terminal.write([Finding(.fault, "rights", "\(role) may not run jobs; \(Database.grant(to: role))")])
                return .failed
            }
            let hidden = try Database.rowSecurity(connection)
            if let hidden {
                Terminal.write([Finding(.fault, "row security", hidden.text)])
                if hidden.hidesHistory { return .failed }
            }
            try Database.check(connection)
            Terminal.write([Finding(.ok, "schema", "the one of this program")])
            do throws(PGError) {
                let fleet = try FleetCheckup.findings(connection, keys: configuration.secretKeys)
                Terminal.write(fleet)
                let isFault = hidden != nil || (machine + server + fleet).contains { $0.grade == .fault }
                return isFault ? .failed : .clean
            } catch {
                throw Database.failure(error)
            }
        })
}

// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient
internal import SecretSealing

/// `worker credential set|log-out NAME`: seals and stores a credential's secrets, or deletes them.
enum CredentialCommand {
    /// The longest text of secrets: 64 KiB.
    private static let limit = 65_536

    static let spec = CommandSpec(
        name: "credential", group: .fleet,
        summary: "set the secrets of a credential from standard input, or log it out",
        example: "credential set billing < secret.json",
        operands: [
            CommandSpec.Operand(name: "ACTION", meaning: "set or log-out", values: .words(["set", "log-out"])),
            CommandSpec.Operand(name: "NAME", meaning: "a credential's name, as in postrider.credentials"),
        ],
        flags: [Database.flag, SecretKey.source.flag],
        details: [
            "Standard input holds one secret (for kind basic: user:password), or an object such as",
            "{\"access_token\": \"…\", \"refresh_token\": \"…\", \"expires_in\": 3600}. It is sealed before it is sent. Without a",
            "key it is sent unsealed, and the next worker with a key seals it.",
        ],
        run: { (arguments) throws(CommandError) in
            let name = arguments.operands[1]
            switch arguments.operands[0] {
            case "set": return try set(name, arguments)
            case "log-out": return try logOut(name, arguments)
            default:
                throw .usage(
                    "credential ACTION", "\(quoted(arguments.operands[0])) is not known", "give set or log-out")
            }
        })

    private static func set(_ name: String, _ arguments: Arguments) throws(CommandError) -> ExitCode {
        let keys = try SecretKey.read(arguments)
        guard let bytes = try SecretPrompt.read(name, limit: limit),
            let input = String(validating: bytes, as: UTF8.self)
        else {
            throw .usage(
                "the secret on standard input", "is not UTF-8, or longer than 64 kB", "give one secret or object")
        }
        let connection = try Database.open(arguments)
        var parameters = PGParameters()
        parameters.append(text: name)
        let row = try Database.query(
            "select kind as value from postrider.credentials where name = $1", &parameters, connection)
        guard row.rowCount > 0 else {
            throw .usage("NAME", "there is no credential \(quoted(name))", "insert it into postrider.credentials first")
        }
        let secret: SecretText
        do throws(SecretText.Defect) {
            secret = try SecretText(input, kind: row.text(0, PGValueColumn.value))
        } catch {
            throw .usage("the secret on standard input", error.reason, "see worker credential --help")
        }
        parameters.removeAll()
        parameters.append(text: name)
        if let keys {
            parameters.append(texts: secret.secrets.names)
            parameters.append(bytes: keys.seal(secret.secrets, for: name))
            parameters.append(int64: secret.expiresIn)
            _ = try Database.query("select postrider_internal.log_in_sealed($1, $2, $3, $4)", &parameters, connection)
        } else {
            parameters.append(texts: secret.secrets.pairs)
            parameters.append(int64: secret.expiresIn)
            let sql = """
                select postrider.log_in(
                  $1, jsonb_object($2::text[]) || jsonb_strip_nulls(jsonb_build_object('expires_in', $3::bigint)))
                """
            _ = try Database.query(sql, &parameters, connection)
            Terminal.write(
                "worker: POSTRIDER_SECRET_KEY is not set; "
                    + "the secret stays unsealed until a worker with a key seals it\n",
                to: .error)
        }
        return try printState(name, connection)
    }

    private static func logOut(_ name: String, _ arguments: Arguments) throws(CommandError) -> ExitCode {
        let connection = try Database.open(arguments)
        var parameters = PGParameters()
        parameters.append(text: name)
        _ = try Database.query("select postrider.log_out($1)", &parameters, connection)
        return try printState(name, connection)
    }

    /// Prints the state of the credential, such as `billing active, version 3`.
    private static func printState(
        _ name: String, _ connection: borrowing PGConnection
    ) throws(CommandError) -> ExitCode {
        var parameters = PGParameters()
        parameters.append(text: name)
        let row = try Database.query(
            "select state || ', version ' || version as value from postrider.credentials where name = $1", &parameters,
            connection)
        if row.rowCount > 0 {
            Terminal.write("\(SanitizedText.escape(name)) \(row.text(0, PGValueColumn.value))\n")
        }
        return .clean
    }
}

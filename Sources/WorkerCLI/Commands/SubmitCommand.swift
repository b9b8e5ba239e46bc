// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `worker submit FILE|-`: inserts the job that a JSON object describes.
enum SubmitCommand {
    /// `postrider.submit` takes 1 MB; a little more is read so that the server's message is the one shown.
    private static let limit = 2 << 20

    static let spec = CommandSpec(
        name: "submit",
        summary: "insert the job that a JSON object describes; prints its id",
        operands: [CommandSpec.Operand(name: "FILE", meaning: "a file with one JSON object, or - for standard input")],
        flags: [Database.flag],
        details: ["The keys are the columns of postrider.jobs, as in postrider.submit(jsonb)."],
        run: { (arguments) throws(CommandError) in
            let path = arguments.operands[0]
            guard let bytes = try Terminal.read(path, limit: limit) else {
                throw .usage("FILE \(quoted(path))", "longer than 1 MB", "give at most 1 MB")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .usage("FILE \(quoted(path))", "not UTF-8", "give one JSON object in UTF-8")
            }
            let connection = try Database.open(arguments)
            do throws(PGError) {
                var parameters = PGParameters()
                parameters.append(text: text)
                let result = try connection.query("select postrider.submit($1::jsonb)", &parameters)
                Terminal.write("\(result.int64(0, 0))\n")
                return .clean
            } catch {
                throw Database.failure(error)
            }
        })
}

// SPDX-License-Identifier: Apache-2.0

/// `worker man`: prints the manual page.
enum ManCommand {
    static let spec = CommandSpec(
        name: "man", group: .help,
        summary: "print the manual page, for a package or for man -l -",
        example: "man | man -l -",
        run: { (_) throws(CommandError) in
            Terminal.write(ManPage.text(Program.commands))
            return .clean
        })
}

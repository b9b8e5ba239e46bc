// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Paths that lead out of the files root, for downloads and for file parts.
enum HostileFiles {
    private static let group = "files"

    static func inputs(_ ground: AuditGround) -> [HostileInput] {
        let folder = ground.folder
        let untouched: @Sendable () -> String? = {
            folder.isUntouchedOutside ? nil : "something outside the directory of files was changed"
        }
        let paths = [
            "../outside", "/etc/hostname", "//etc/hostname", "a/../../outside", "up/outside", "", ".", "..", "a/",
            "./a", "a//b",
            "/proc/self/environ", "a\0",
        ]
        let sent = (paths + ["link", "pipe", "up"]).map { path in
            HostileInput(
                group, "\"\(path)\" as the file of a part",
                ground.call("/echo", method: .post, body: .parts([BodyPart(name: "a", content: .file(path: path))])),
                .refused([.file]), also: untouched)
        }
        // A download to `linked` first writes the file `linked.part`, which is a link already. `.part` and `.part.meta`
        // are the endings of unfinished downloads.
        let written =
            (paths + ["linked", "a.part", "a.part.meta"]).map { path in
                HostileInput(
                    group, "\"\(path)\" as the file of a download", download("/ok", to: path, ground),
                    .refused([.file]),
                    also: untouched)
            } + [
                HostileInput(
                    group, "a link as the file of a download, which takes its place",
                    download("/ok", to: "link", ground),
                    .answered(body: [], headers: nil), also: untouched)
            ]
        let named = HostileInput(
            group, "a Content-Disposition with a path outside the directory",
            download("/disposition", to: "kept", ground),
            .answered(body: [], headers: nil),
            also: { untouched() ?? (folder.holds("kept") ? nil : "the file has another name than the call gave") })
        return sent + written + [named]
    }

    private static func download(_ path: String, to file: String, _ ground: AuditGround) -> HTTPCall {
        var call = ground.call(path)
        call.download = Download(path: file)
        return call
    }
}

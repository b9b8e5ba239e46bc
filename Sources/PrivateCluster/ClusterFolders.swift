// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The folders of a private server.
enum ClusterFolders {
    static func makeHome(_ folder: String?) throws(ClusterError) -> String? {
        guard let folder, geteuid() != 0 else { return nil }
        guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw ClusterError.system("mkdir \(folder)") }
        guard let absolute = unsafe realpath(folder, nil) else { throw ClusterError.system(folder) }
        defer { unsafe free(absolute) }
        var name = [CChar]("\(unsafe String(cString: absolute))/postgresql-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw ClusterError.system("mkdtemp in \(folder)") }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `/dev/shm`, unless it is missing or small. C: `statvfs`.
    static func folderInMemory() -> String? {
        let folder = "/dev/shm"
        var info = Glibc.statvfs()
        guard unsafe statvfs(folder, &info) == 0, unsafe access(folder, W_OK) == 0 else { return nil }
        return UInt64(info.f_bavail) * UInt64(info.f_frsize) >= 8 << 30 ? folder : nil
    }

    static func makeDirectory(in folder: String) throws(ClusterError) -> String {
        var name = [CChar]("\(folder)/postrider-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw ClusterError.system("mkdtemp in \(folder)") }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard geteuid() == 0 else { return path }
        do throws(ClusterError) {
            try giveToServerUser(path)
        } catch {
            unsafe rmdir(path)
            throw error
        }
        return path
    }

    /// The absolute path of a folder whose data is kept; nil without a folder. It is made if it is missing.
    ///
    /// As root the server runs as `postgres`, so the folder then belongs to that user.
    static func keep(_ folder: String?) throws(ClusterError) -> String? {
        guard let folder else { return nil }
        let isNew = unsafe mkdir(folder, 0o700) == 0
        guard isNew || errno == EEXIST else { throw ClusterError.system("mkdir \(folder)") }
        guard let resolved = unsafe realpath(folder, nil) else { throw ClusterError.system(folder) }
        defer { unsafe free(resolved) }
        let path = unsafe String(cString: resolved)
        guard geteuid() == 0 else { return path }
        if isNew { try giveToServerUser(path) }
        let canEnter = try ChildProcess.run(PrivateCluster.asServerUser() + ["test", "-w", path])
        guard canEnter.status == 0 else {
            throw ClusterError(.initialize, "the user postgres cannot write to \(path); name a folder below /var/tmp")
        }
        return path
    }

    private static func giveToServerUser(_ path: String) throws(ClusterError) {
        guard let user = unsafe getpwnam("postgres") else {
            throw ClusterError(.notInstalled, "as root the server runs as user postgres, and there is no such user")
        }
        guard unsafe chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw ClusterError.system("chown \(path)")
        }
    }
}

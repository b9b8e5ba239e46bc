// SPDX-License-Identifier: Apache-2.0
//
// Opens files below a root, name by name. Each step opens one entry of a directory that is already open. So the path
// cannot change between a check and its use.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int cfiles_root_open(const char *path) {
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

bool cfiles_path_is_beneath(const char *path) {
    if (strlen(path) >= PATH_MAX) return false;
    while (true) {
        size_t length = strcspn(path, "/");
        if (length == 0 || length > NAME_MAX) return false;
        if (path[0] == '.' && (length == 1 || (length == 2 && path[1] == '.'))) return false;
        if (path[length] == 0) return true;
        path += length + 1;
    }
}

/// Opens one entry of `directory`. `name` contains no slash and is not `..`.
static int open_entry(int directory, const char *name, int flags, mode_t mode) {
    flags |= O_CLOEXEC | O_NOFOLLOW;
    struct open_how how = {
        .flags = (uint64_t)flags,
        // openat2 refuses other bits, and any mode without O_CREAT.
        .mode = flags & O_CREAT ? mode & 07777 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, directory, name, &how, sizeof how);
    // Linux before 5.6 and some container sandboxes lack openat2. A single name with O_NOFOLLOW cannot leave the root
    // either.
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) fd = openat(directory, name, flags, mode);
    return fd < 0 ? -errno : (int)fd;
}

int cfiles_parent_beneath(int root, const char *path, bool make_parents, const char **name) {
    if (!cfiles_path_is_beneath(path)) return -EINVAL;
    int directory = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (directory < 0) return -errno;
    const char *slash;
    while ((slash = strchr(path, '/'))) {
        char entry[NAME_MAX + 1];
        memcpy(entry, path, (size_t)(slash - path));
        entry[slash - path] = 0;
        int next = open_entry(directory, entry, O_PATH | O_DIRECTORY, 0);
        if (next == -ENOENT && make_parents) {
            // Another process may create it at the same time.
            if (mkdirat(directory, entry, 0777) != 0 && errno != EEXIST) next = -errno;
            else next = open_entry(directory, entry, O_PATH | O_DIRECTORY, 0);
        }
        // O_PATH with O_NOFOLLOW opens a link itself. With O_DIRECTORY that fails with ENOTDIR instead of ELOOP.
        struct stat kind;
        if (next == -ENOTDIR && fstatat(directory, entry, &kind, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(kind.st_mode))
            next = -ELOOP;
        close(directory);
        if (next < 0) return next;
        directory = next;
        path = slash + 1;
    }
    *name = path;
    return directory;
}

int cfiles_open_beneath(int root, const char *path, int flags, mode_t mode, bool make_parents) {
    const char *name;
    int directory = cfiles_parent_beneath(root, path, make_parents, &name);
    if (directory < 0) return directory;
    int fd = open_entry(directory, name, flags | O_NONBLOCK, mode);
    close(directory);
    return fd;
}

void cfiles_unlock_and_close(int file) {
    flock(file, LOCK_UN);
    close(file);
}

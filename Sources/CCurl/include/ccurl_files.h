// SPDX-License-Identifier: Apache-2.0
//
// Files that jobs name. They are opened from the directory of `--files`, and never outside of it.
#ifndef CCURL_FILES_H
#define CCURL_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens the files root. Returns a descriptor or -errno.
int ccurl_root_open(const char *_Nonnull path);

/// Whether `path` may name a file below a root: relative, at most 4095 bytes, and no name in it is empty, `.` or `..`.
bool ccurl_path_is_beneath(const char *_Nonnull path);

/// Opens `path` below `root`. Returns a descriptor (close-on-exec) or -errno.
///
/// -EINVAL: `path` is not beneath a root. -ELOOP: a name in it is a symbolic link. -EXDEV: the kernel found a way out
/// of the root. With `make_parents`, missing directories are created (mode 0777 without the umask's bits).
///
/// `flags` and `mode` are passed to open(2). O_NOFOLLOW and O_NONBLOCK are added, so that no link is followed and no
/// FIFO blocks. Check the kind of the opened file with fstat.
int ccurl_open_beneath(int root, const char *_Nonnull path, int flags, mode_t mode, bool make_parents);

/// Opens the directory of `path` below `root` with O_PATH. `name` then points to the last name in `path`. Returns as
/// `ccurl_open_beneath` does.
int ccurl_parent_beneath(int root, const char *_Nonnull path, bool make_parents, const char *_Nullable *_Nonnull name);

#endif

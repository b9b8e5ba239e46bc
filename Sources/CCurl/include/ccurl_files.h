// SPDX-License-Identifier: Apache-2.0
//
// Files that jobs name: always opened from the directory that `--files` gives, never outside it.
#ifndef CCURL_FILES_H
#define CCURL_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens the files root; a descriptor or -errno.
int ccurl_root_open(const char *_Nonnull path);

/// Whether `path` may name a file below a root: relative, at most 4095 bytes, its names neither empty nor `.` nor `..`.
bool ccurl_path_is_beneath(const char *_Nonnull path);

/// Opens `path` below `root`; a descriptor (close-on-exec) or -errno.
///
/// No name on the way is a symbolic link or leads out: -ELOOP, -EXDEV. With `make_parents`, directories that are
/// missing on the way are made (mode 0777 without the umask's bits). `flags` and `mode` are those of open(2); O_NOFOLLOW
/// and O_NONBLOCK are added, so that neither a link is followed nor a FIFO waited for: check what was opened with fstat.
int ccurl_open_beneath(int root, const char *_Nonnull path, int flags, mode_t mode, bool make_parents);

/// Opens the directory that holds `path`, below `root`, and points `name` at the last name in `path`.
int ccurl_parent_beneath(int root, const char *_Nonnull path, bool make_parents, const char *_Nullable *_Nonnull name);

#endif

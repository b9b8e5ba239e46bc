// SPDX-License-Identifier: Apache-2.0
//
// Removes parts of interrupted downloads that were unchanged for a long time, with their notes (cfiles.h). It
// follows no links and leaves other files alone.
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// The most nested folders.
enum { DEEPEST = 64 };

typedef struct {
    /// A file that was last changed before this moment is old.
    time_t before;
    /// Called before each entry, so that the thread can do other work first.
    void (*pause)(void *);
    void *context;
} walk_state;

static bool ends_with(const char *name, size_t length, const char *suffix) {
    size_t n = strlen(suffix);
    return length > n && strcmp(name + length - n, suffix) == 0;
}

/// Whether a file is old. A missing file counts as old, so that a note without a part is removed.
static bool is_old(int directory, const char *name, const walk_state *w) {
    struct stat s;
    return fstatat(directory, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || (S_ISREG(s.st_mode) && s.st_mtime < w->before);
}

/// Removes a pair. `note` is `X.part.meta`. It takes the part's lock, so that a slow download keeps its files.
static void expire_pair(int directory, const char *note, walk_state *w) {
    char part[NAME_MAX + 1];
    size_t length = strlen(note) - strlen(".meta");
    memcpy(part, note, length);
    part[length] = 0;
    if (!is_old(directory, note, w) || !is_old(directory, part, w)) return;
    int fd = openat(directory, part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT) return;
    if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_old(directory, note, w) && is_old(directory, part, w))) {
        unlinkat(directory, part, 0);
        unlinkat(directory, note, 0);
    }
    if (fd >= 0) cfiles_unlock_and_close(fd);
}

static void walk(int directory, int depth, walk_state *w) {
    DIR *entries = fdopendir(directory);
    if (!entries) {
        close(directory);
        return;
    }
    struct dirent *e;
    while ((e = readdir(entries))) {
        w->pause(w->context);
        size_t length = strlen(e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (ends_with(e->d_name, length, ".part.meta")) {
            expire_pair(dirfd(entries), e->d_name, w);
        } else if (ends_with(e->d_name, length, ".part.meta.new")) {
            if (is_old(dirfd(entries), e->d_name, w)) unlinkat(dirfd(entries), e->d_name, 0);
        } else if ((e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) && depth < DEEPEST) {
            int below = openat(dirfd(entries), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below >= 0) walk(below, depth + 1, w);
        }
    }
    closedir(entries);
}

void cfiles_expire_walk(int root, int64_t seconds, void (*pause)(void *), void *context) {
    walk_state w = {.before = time(NULL) - seconds, .pause = pause, .context = context};
    int directory = root < 0 ? -1 : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) walk(directory, 0, &w);
}

// SPDX-License-Identifier: Apache-2.0
//
// The note next to a part:
//
//     postrider-part 1 host:pid
//     …the owner's lines…
//     durable 123
//     end
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "postrider-part 1 "

void cfiles_suffixed(char *out, const char *name, const char *suffix) {
    snprintf(out, NAME_MAX + 1, "%s%s", name, suffix);
}

/// Parses a note. A torn one or one of another format counts as missing.
static void parse(cfiles_part *p, char *note, size_t length) {
    const char *tail = "\nend\n";
    if (length < sizeof MARK + 10 || memchr(note, 0, length) || strncmp(note, MARK, sizeof MARK - 1) != 0) return;
    char *line = strchr(note, '\n');
    snprintf(p->holder, sizeof p->holder, "%.*s", (int)(line - note - (long)sizeof MARK + 1), note + sizeof MARK - 1);
    if (strcmp(note + length - strlen(tail), tail) != 0) return;
    note[length - strlen(tail)] = 0;
    char *last = strrchr(note, '\n');
    if (!last || strncmp(last + 1, "durable ", 8) != 0) return;
    char *end;
    errno = 0;
    long long durable = strtoll(last + 9, &end, 10);
    if (errno || *end || durable < 0) return;
    p->noted = durable;
    last[1] = 0;
    free(p->text);
    p->text = strdup(line + 1);
}

int cfiles_note_read(cfiles_part *p) {
    char name[NAME_MAX + 1];
    cfiles_suffixed(name, p->name, ".part.meta");
    p->noted = 0;
    int fd = openat(p->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : errno;
    char *note = malloc(NOTE_LIMIT + 1);
    ssize_t length = note ? read(fd, note, NOTE_LIMIT) : -1;
    close(fd);
    if (length > 0) {
        note[length] = 0;
        parse(p, note, (size_t)length);
    }
    free(note);
    return note ? 0 : ENOMEM;
}

static int write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(fd, bytes, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ENOSPC;
        bytes += count;
        length -= (size_t)count;
    }
    return 0;
}

int cfiles_note_write(cfiles_part *p, int64_t durable, bool sync_directory) {
    char name[NAME_MAX + 1], fresh[NAME_MAX + 1];
    cfiles_suffixed(name, p->name, ".part.meta");
    cfiles_suffixed(fresh, p->name, ".part.meta.new");
    char *note = NULL;
    const char *holder = p->work.disk->holder, *text = p->text ? p->text : "";
    int length = asprintf(&note, MARK "%s\n%sdurable %" PRId64 "\nend\n", holder, text, durable);
    if (length < 0) return ENOMEM;
    int fd = openat(p->directory, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : write_all(fd, note, (size_t)length);
    free(note);
    // If the bytes were not synced before the rename, a power failure could leave an empty note.
    if (fd >= 0 && !why && fdatasync(fd) != 0) why = errno;
    if (fd >= 0) close(fd);
    if (!why && renameat(p->directory, fresh, p->directory, name) != 0) why = errno;
    if (why) {
        unlinkat(p->directory, fresh, 0);
        return why;
    }
    p->noted = durable;
    return sync_directory ? cfiles_sync_directory(p->directory) : 0;
}

void cfiles_note_remove(cfiles_part *p) {
    char name[NAME_MAX + 1];
    cfiles_suffixed(name, p->name, ".part.meta");
    unlinkat(p->directory, name, 0);
}

int cfiles_sync_directory(int directory) {
    // The given descriptor is O_PATH, which cannot be synced.
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    int why = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return why;
}

// SPDX-License-Identifier: Apache-2.0
//
// Files that are sent as parts: read by libcurl's callbacks, and never sent as something else than what they were
// when the call began.
#include "ccurl_files.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct ccurl_file {
    int fd;
    int64_t position, size;
    struct timespec modified;
    char *path;
    ccurl_transfer *transfer;
};

ccurl_file *ccurl_file_open(const char *root, const char *path, int64_t *size, ccurl_file_refusal *refusal) {
    struct stat s;
    *refusal = CCURL_FILE_ROOT;
    int folder = ccurl_root_open(root);
    if (folder < 0) return NULL;
    int fd = ccurl_open_beneath(folder, path, O_RDONLY | O_NOCTTY, 0, false);
    close(folder);
    if (fd < 0) {
        switch (-fd) {
        case ENOENT: case ENOTDIR: *refusal = CCURL_FILE_ABSENT; break;
        case EXDEV: case EINVAL: *refusal = CCURL_FILE_OUTSIDE; break;
        case ELOOP: *refusal = CCURL_FILE_LINK; break;
        case EMFILE: case ENFILE: *refusal = CCURL_FILE_DESCRIPTORS; break;
        // A socket in the file system.
        case ENXIO: *refusal = CCURL_FILE_KIND; break;
        default: *refusal = CCURL_FILE_UNREADABLE;
        }
        return NULL;
    }
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
        *refusal = CCURL_FILE_KIND;
        close(fd);
        return NULL;
    }
    ccurl_file *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    if (!file || !copy) {
        *refusal = CCURL_FILE_UNREADABLE;
        free(file);
        free(copy);
        close(fd);
        return NULL;
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *file = (ccurl_file){.fd = fd, .size = s.st_size, .modified = s.st_mtim, .path = copy};
    *size = s.st_size;
    return file;
}

void ccurl_file_close(ccurl_file *file) {
    close(file->fd);
    free(file->path);
    free(file);
}

static bool has_changed(const ccurl_file *f) {
    struct stat s;
    return fstat(f->fd, &s) != 0 || s.st_size != f->size || s.st_mtim.tv_sec != f->modified.tv_sec ||
           s.st_mtim.tv_nsec != f->modified.tv_nsec;
}

// The length was announced before the first byte; the last bytes leave only if the file is still the same.
static size_t on_read(char *buffer, size_t size, size_t count, void *context) {
    ccurl_file *f = context;
    size_t room = size * count;
    int64_t left = f->size - f->position;
    if (left <= 0) return 0;
    if ((int64_t)room > left) room = (size_t)left;
    ssize_t length;
    do length = pread(f->fd, buffer, room, f->position);
    while (length < 0 && errno == EINTR);
    if (length <= 0 || (length == left && has_changed(f))) {
        f->transfer->changed_file = f->path;
        return CURL_READFUNC_ABORT;
    }
    f->position += length;
    return (size_t)length;
}

// For a second sending: a redirect that keeps the body, or a reused connection that was dead.
static int on_seek(void *context, curl_off_t offset, int origin) {
    ccurl_file *f = context;
    if (origin != SEEK_SET || offset < 0 || offset > f->size) return CURL_SEEKFUNC_FAIL;
    f->position = offset;
    return CURL_SEEKFUNC_OK;
}

static void on_free(void *context) { ccurl_file_close(context); }

int ccurl_file_attach(ccurl_file *file, ccurl_transfer *t, curl_mimepart *part) {
    file->transfer = t;
    return (int)curl_mime_data_cb(part, file->size, on_read, on_seek, on_free, file);
}

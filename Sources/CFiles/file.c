// SPDX-License-Identifier: Apache-2.0
//
// Files that are sent. The helper thread (disk.c) opens them and reads ahead. The loop's thread takes the bytes. If a
// file changes while it is sent, its last bytes are refused.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cfiles_file {
    cfiles_work work;
    char *path;
    // Protected by the disk's lock, with two exceptions. Only the loop's thread changes `tail`, so it reads it without
    // the lock. `size` is fixed once the file is open.
    // The ring contains the bytes of the file from `tail` to `head`.
    cfiles_file_state state;
    cfiles_file_refusal refusal;
    int64_t size, head, tail;
    /// How often `cfiles_file_seek` moved `head` and `tail`. Bytes that were read before the last move are dropped.
    unsigned seeks;
    /// Whether it is the first file of its call. It is read as soon as it is open.
    bool is_first;
    /// Whether the loop waits for bytes.
    bool starved;
    // Used by the helper thread. The loop reads only the ring between `tail` and `head`.
    int fd;
    struct timespec modified;
    uint8_t *ring;
    size_t capacity;
    /// The next file of the same call. Used by the loop's thread.
    cfiles_file *next;
};

static cfiles_file_refusal refusal_of(int error) {
    switch (error) {
    case ENOENT: case ENOTDIR: return CFILES_FILE_ABSENT;
    case EXDEV: case EINVAL: return CFILES_FILE_OUTSIDE;
    case ELOOP: return CFILES_FILE_LINK;
    case EMFILE: case ENFILE: return CFILES_FILE_DESCRIPTORS;
    // The path names a socket.
    case ENXIO: return CFILES_FILE_KIND;
    default: return CFILES_FILE_UNREADABLE;
    }
}

// This function and all following ones up to `destroy` run on the helper thread.

/// Stores the state in which the file ends, and notifies the loop. Returns false: no work is left.
static bool settle(cfiles_file *f, cfiles_file_state state, cfiles_file_refusal refusal) {
    pthread_mutex_lock(&f->work.disk->lock);
    f->state = state;
    f->refusal = refusal;
    pthread_mutex_unlock(&f->work.disk->lock);
    cfiles_disk_notify(f->work.disk);
    return false;
}

static bool open_file(cfiles_file *f) {
    struct stat s;
    int folder = cfiles_root_open(f->work.disk->path);
    if (folder < 0) {
        bool is_short = folder == -EMFILE || folder == -ENFILE;
        return settle(f, CFILES_FILE_REFUSED, is_short ? CFILES_FILE_DESCRIPTORS : CFILES_FILE_ROOT);
    }
    int fd = cfiles_open_beneath(folder, f->path, O_RDONLY | O_NOCTTY, 0, false);
    close(folder);
    if (fd < 0) return settle(f, CFILES_FILE_REFUSED, refusal_of(-fd));
    f->fd = fd;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return settle(f, CFILES_FILE_REFUSED, CFILES_FILE_KIND);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    f->modified = s.st_mtim;
    pthread_mutex_lock(&f->work.disk->lock);
    f->state = CFILES_FILE_OPEN;
    f->size = s.st_size;
    bool reads = f->is_first && f->size > 0;
    f->starved = reads;
    pthread_mutex_unlock(&f->work.disk->lock);
    // With bytes to read, `read_ahead` notifies the loop once they are there.
    if (!reads) cfiles_disk_notify(f->work.disk);
    return reads;
}

static bool has_changed(const cfiles_file *f) {
    struct stat s;
    return fstat(f->fd, &s) != 0 || s.st_size != f->size || s.st_mtim.tv_sec != f->modified.tv_sec ||
           s.st_mtim.tv_nsec != f->modified.tv_nsec;
}

/// Reads the next bytes into the ring. True if more may be left.
///
/// The request announces the length before the first byte. So the last bytes are sent only if the file is unchanged.
static bool read_ahead(cfiles_file *f) {
    pthread_mutex_lock(&f->work.disk->lock);
    int64_t head = f->head, tail = f->tail;
    unsigned seeks = f->seeks;
    pthread_mutex_unlock(&f->work.disk->lock);
    if (tail == f->size) {
        // The loop has taken all bytes. The next file of the call needs the memory.
        free(f->ring);
        f->ring = NULL;
        return false;
    }
    if (!f->ring) {
        f->capacity = f->size < CFILES_FILE_AHEAD ? (size_t)f->size : CFILES_FILE_AHEAD;
        f->ring = malloc(f->capacity);
        // Without memory it ends like a failed read, because the bytes cannot be sent.
        if (!f->ring) return settle(f, CFILES_FILE_CHANGED, CFILES_FILE_UNREADABLE);
    }
    int64_t left = f->size - head;
    size_t at = (size_t)(head % (int64_t)f->capacity), length = f->capacity - (size_t)(head - tail);
    if (length > f->capacity - at) length = f->capacity - at;
    if ((int64_t)length > left) length = (size_t)left;
    if (length == 0) return false;
    ssize_t count;
    do count = pread(f->fd, f->ring + at, length, head);
    while (count < 0 && errno == EINTR);
    bool lost = count <= 0 || (count == left && has_changed(f));
    pthread_mutex_lock(&f->work.disk->lock);
    bool is_current = seeks == f->seeks, notifies = is_current && f->starved;
    if (is_current && lost) f->state = CFILES_FILE_CHANGED;
    else if (is_current) f->head += count;
    if (is_current) f->starved = false;
    pthread_mutex_unlock(&f->work.disk->lock);
    if (notifies) cfiles_disk_notify(f->work.disk);
    return !is_current || !lost;
}

static bool step(cfiles_work *w) {
    cfiles_file *f = (cfiles_file *)w;
    pthread_mutex_lock(&w->disk->lock);
    bool freed = w->freed;
    cfiles_file_state state = f->state;
    pthread_mutex_unlock(&w->disk->lock);
    if (freed) {
        // The file is closed here and not in `destroy`, which runs with the lock held.
        if (f->fd >= 0) close(f->fd);
        f->fd = -1;
        return false;
    }
    if (state == CFILES_FILE_OPENING) return open_file(f);
    return state == CFILES_FILE_OPEN && read_ahead(f);
}

static void destroy(cfiles_work *w) {
    cfiles_file *f = (cfiles_file *)w;
    free(f->ring);
    free(f->path);
    free(f);
}

cfiles_file *cfiles_file_open(cfiles_disk *d, const char *path, bool is_first) {
    cfiles_file *f = calloc(1, sizeof *f);
    char *copy = strdup(path);
    if (!f || !copy) {
        free(f);
        free(copy);
        return NULL;
    }
    *f = (cfiles_file){.path = copy, .is_first = is_first, .fd = -1};
    f->work = (cfiles_work){.disk = d, .step = step, .destroy = destroy, .path = copy};
    pthread_mutex_lock(&d->lock);
    cfiles_disk_enqueue(&f->work);
    pthread_mutex_unlock(&d->lock);
    return f;
}

static void begin_reading(cfiles_file *f, bool starved) {
    pthread_mutex_lock(&f->work.disk->lock);
    if (f->state == CFILES_FILE_OPEN && f->head == f->tail && f->tail < f->size) {
        f->starved |= starved;
        cfiles_disk_enqueue(&f->work);
    }
    pthread_mutex_unlock(&f->work.disk->lock);
}

void cfiles_file_read(cfiles_file *f) { begin_reading(f, true); }

cfiles_file_status cfiles_file_look(const cfiles_file *f) {
    pthread_mutex_lock(&f->work.disk->lock);
    cfiles_file_status s = {
        .state = f->state,
        .refusal = f->refusal,
        .size = f->size,
        .has_bytes = f->head > f->tail,
        .waits_since = cfiles_disk_waits_since(&f->work),
    };
    pthread_mutex_unlock(&f->work.disk->lock);
    return s;
}

void cfiles_file_free(cfiles_file *f) {
    pthread_mutex_lock(&f->work.disk->lock);
    f->work.freed = f->work.settled = true;
    cfiles_disk_enqueue(&f->work);
    pthread_mutex_unlock(&f->work.disk->lock);
}

int64_t cfiles_file_take(cfiles_file *f, void *bytes, size_t most) {
    pthread_mutex_t *lock = &f->work.disk->lock;
    if (f->tail >= f->size) return 0;
    pthread_mutex_lock(lock);
    size_t length = (size_t)(f->head - f->tail);
    bool is_read = f->head == f->size;
    bool lost = f->state != CFILES_FILE_OPEN;
    f->starved = length == 0;
    if (length == 0 && !lost) cfiles_disk_enqueue(&f->work);
    pthread_mutex_unlock(lock);
    if (length == 0) return lost ? CFILES_LOST : CFILES_WAIT;
    // The helper thread never touches the bytes between `tail` and `head`, so the copy needs no lock.
    size_t at = (size_t)(f->tail % (int64_t)f->capacity);
    if (length > f->capacity - at) length = f->capacity - at;
    if (length > most) length = most;
    memcpy(bytes, f->ring + at, length);
    pthread_mutex_lock(lock);
    f->tail += (int64_t)length;
    bool has_room = f->head < f->size && f->capacity - (size_t)(f->head - f->tail) >= BATCH;
    if (has_room || f->tail == f->size) cfiles_disk_enqueue(&f->work);
    pthread_mutex_unlock(lock);
    // The next file is queued after this one. So this one first frees its memory, if it is sent completely.
    if (is_read && f->next) begin_reading(f->next, false);
    return (int64_t)length;
}

bool cfiles_file_seek(cfiles_file *f, int64_t offset) {
    if (offset < 0 || offset > f->size) return false;
    if (offset == f->tail) return true;
    pthread_mutex_lock(&f->work.disk->lock);
    f->head = f->tail = offset;
    f->seeks++;
    // Each other file is read when the file before it has been read. Otherwise all of them would take memory.
    if (f->is_first) cfiles_disk_enqueue(&f->work);
    pthread_mutex_unlock(&f->work.disk->lock);
    return true;
}

const char *cfiles_file_path(const cfiles_file *f) { return f->path; }
void cfiles_file_set_next(cfiles_file *f, cfiles_file *next) { f->next = next; }

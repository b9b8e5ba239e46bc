// SPDX-License-Identifier: Apache-2.0
//
// Files that are sent as parts of a multipart body. The helper thread (disk.c) opens them and reads ahead. The loop's
// thread passes the bytes to libcurl in its callbacks. If a file changes during a call, the call fails.
#include "ccurl_files.h"
#include "internal.h"
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct ccurl_file {
    ccurl_work work;
    char *path;
    // Protected by the disk's lock, with two exceptions. Only the loop's thread changes `tail`, so it reads it without
    // the lock. `size` is fixed once the file is open.
    // The ring contains the bytes of the file from `tail` to `head`.
    ccurl_file_state state;
    ccurl_file_refusal refusal;
    int64_t size, head, tail;
    /// How often `on_seek` moved `head` and `tail`. Bytes that were read before the last move are dropped.
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
    // Used by the loop's thread.
    ccurl_transfer *transfer;
    /// The next file of the same call.
    ccurl_file *next;
};

static ccurl_file_refusal refusal_of(int error) {
    switch (error) {
    case ENOENT: case ENOTDIR: return CCURL_FILE_ABSENT;
    case EXDEV: case EINVAL: return CCURL_FILE_OUTSIDE;
    case ELOOP: return CCURL_FILE_LINK;
    case EMFILE: case ENFILE: return CCURL_FILE_DESCRIPTORS;
    // The path names a socket.
    case ENXIO: return CCURL_FILE_KIND;
    default: return CCURL_FILE_UNREADABLE;
    }
}

// This function and all following ones up to `destroy` run on the helper thread.

/// Stores the state in which the file ends, and notifies the loop. Returns false: no work is left.
static bool settle(ccurl_file *f, ccurl_file_state state, ccurl_file_refusal refusal) {
    pthread_mutex_lock(&f->work.disk->lock);
    f->state = state;
    f->refusal = refusal;
    pthread_mutex_unlock(&f->work.disk->lock);
    ccurl_disk_notify(f->work.disk);
    return false;
}

static bool open_file(ccurl_file *f) {
    struct stat s;
    int folder = ccurl_root_open(f->work.disk->path);
    if (folder < 0) {
        bool is_short = folder == -EMFILE || folder == -ENFILE;
        return settle(f, CCURL_FILE_REFUSED, is_short ? CCURL_FILE_DESCRIPTORS : CCURL_FILE_ROOT);
    }
    int fd = ccurl_open_beneath(folder, f->path, O_RDONLY | O_NOCTTY, 0, false);
    close(folder);
    if (fd < 0) return settle(f, CCURL_FILE_REFUSED, refusal_of(-fd));
    f->fd = fd;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return settle(f, CCURL_FILE_REFUSED, CCURL_FILE_KIND);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    f->modified = s.st_mtim;
    pthread_mutex_lock(&f->work.disk->lock);
    f->state = CCURL_FILE_OPEN;
    f->size = s.st_size;
    bool reads = f->is_first && f->size > 0;
    f->starved = reads;
    pthread_mutex_unlock(&f->work.disk->lock);
    // With bytes to read, `read_ahead` notifies the loop once they are there.
    if (!reads) ccurl_disk_notify(f->work.disk);
    return reads;
}

static bool has_changed(const ccurl_file *f) {
    struct stat s;
    return fstat(f->fd, &s) != 0 || s.st_size != f->size || s.st_mtim.tv_sec != f->modified.tv_sec ||
           s.st_mtim.tv_nsec != f->modified.tv_nsec;
}

/// Reads the next bytes into the ring. True if more may be left.
///
/// The request announces the length before the first byte. So the last bytes are sent only if the file is unchanged.
static bool read_ahead(ccurl_file *f) {
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
        f->capacity = f->size < CCURL_FILE_AHEAD ? (size_t)f->size : CCURL_FILE_AHEAD;
        f->ring = malloc(f->capacity);
        // Without memory it ends like a failed read, because the bytes cannot be sent.
        if (!f->ring) return settle(f, CCURL_FILE_CHANGED, CCURL_FILE_UNREADABLE);
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
    if (is_current && lost) f->state = CCURL_FILE_CHANGED;
    else if (is_current) f->head += count;
    if (is_current) f->starved = false;
    pthread_mutex_unlock(&f->work.disk->lock);
    if (notifies) ccurl_disk_notify(f->work.disk);
    return !is_current || !lost;
}

static bool step(ccurl_work *w) {
    ccurl_file *f = (ccurl_file *)w;
    pthread_mutex_lock(&w->disk->lock);
    bool freed = w->freed;
    ccurl_file_state state = f->state;
    pthread_mutex_unlock(&w->disk->lock);
    if (freed) {
        // The file is closed here and not in `destroy`, which runs with the lock held.
        if (f->fd >= 0) close(f->fd);
        f->fd = -1;
        return false;
    }
    if (state == CCURL_FILE_OPENING) return open_file(f);
    return state == CCURL_FILE_OPEN && read_ahead(f);
}

static void destroy(ccurl_work *w) {
    ccurl_file *f = (ccurl_file *)w;
    free(f->ring);
    free(f->path);
    free(f);
}

ccurl_file *ccurl_file_open(ccurl_disk *d, const char *path, bool is_first) {
    ccurl_file *f = calloc(1, sizeof *f);
    char *copy = strdup(path);
    if (!f || !copy) {
        free(f);
        free(copy);
        return NULL;
    }
    *f = (ccurl_file){.work = {.disk = d, .step = step, .destroy = destroy, .path = copy}, .path = copy, .is_first = is_first, .fd = -1};
    pthread_mutex_lock(&d->lock);
    ccurl_disk_enqueue(&f->work);
    pthread_mutex_unlock(&d->lock);
    return f;
}

static void begin_reading(ccurl_file *f, bool starved) {
    pthread_mutex_lock(&f->work.disk->lock);
    if (f->state == CCURL_FILE_OPEN && f->head == f->tail && f->tail < f->size) {
        f->starved |= starved;
        ccurl_disk_enqueue(&f->work);
    }
    pthread_mutex_unlock(&f->work.disk->lock);
}

void ccurl_file_read(ccurl_file *f) { begin_reading(f, true); }

ccurl_file_status ccurl_file_look(const ccurl_file *f) {
    pthread_mutex_lock(&f->work.disk->lock);
    ccurl_file_status s = {
        .state = f->state,
        .refusal = f->refusal,
        .size = f->size,
        .has_bytes = f->head > f->tail,
        .waits_since = ccurl_disk_waits_since(&f->work),
    };
    pthread_mutex_unlock(&f->work.disk->lock);
    return s;
}

void ccurl_file_free(ccurl_file *f) {
    pthread_mutex_lock(&f->work.disk->lock);
    f->work.freed = f->work.settled = true;
    ccurl_disk_enqueue(&f->work);
    pthread_mutex_unlock(&f->work.disk->lock);
}

/// libcurl's read callback: copies bytes that the helper thread has read. Without bytes the transfer pauses.
static size_t on_read(char *buffer, size_t size, size_t count, void *context) {
    ccurl_file *f = context;
    pthread_mutex_t *lock = &f->work.disk->lock;
    if (f->tail >= f->size) return 0;
    pthread_mutex_lock(lock);
    size_t length = (size_t)(f->head - f->tail);
    bool is_read = f->head == f->size;
    bool lost = f->state != CCURL_FILE_OPEN;
    f->starved = length == 0;
    if (length == 0 && !lost) ccurl_disk_enqueue(&f->work);
    pthread_mutex_unlock(lock);
    if (length == 0 && lost) {
        f->transfer->changed_file = f->path;
        return CURL_READFUNC_ABORT;
    }
    if (length == 0) {
        ccurl_transfer_await(f->transfer, f);
        return CURL_READFUNC_PAUSE;
    }
    // The helper thread never touches the bytes between `tail` and `head`, so the copy needs no lock.
    size_t at = (size_t)(f->tail % (int64_t)f->capacity);
    if (length > f->capacity - at) length = f->capacity - at;
    if (length > size * count) length = size * count;
    memcpy(buffer, f->ring + at, length);
    pthread_mutex_lock(lock);
    f->tail += (int64_t)length;
    bool has_room = f->head < f->size && f->capacity - (size_t)(f->head - f->tail) >= BATCH;
    if (has_room || f->tail == f->size) ccurl_disk_enqueue(&f->work);
    pthread_mutex_unlock(lock);
    // The next file is queued after this one. So this one first frees its memory, if it is sent completely.
    if (is_read && f->next) begin_reading(f->next, false);
    return length;
}

// libcurl's seek callback, before it sends the body again: after a redirect that keeps the body, or if a reused
// connection was dead.
static int on_seek(void *context, curl_off_t offset, int origin) {
    ccurl_file *f = context;
    if (origin != SEEK_SET || offset < 0 || offset > f->size) return CURL_SEEKFUNC_FAIL;
    if (offset == f->tail) return CURL_SEEKFUNC_OK;
    pthread_mutex_lock(&f->work.disk->lock);
    f->head = f->tail = offset;
    f->seeks++;
    // Each other file is read when the file before it has been read. Otherwise all of them would take memory.
    if (f->is_first) ccurl_disk_enqueue(&f->work);
    pthread_mutex_unlock(&f->work.disk->lock);
    return CURL_SEEKFUNC_OK;
}

int ccurl_file_attach(ccurl_file *f, ccurl_transfer *t, curl_mimepart *part) {
    f->transfer = t;
    if (t->last_file) t->last_file->next = f;
    t->last_file = f;
    return (int)curl_mime_data_cb(part, f->size, on_read, on_seek, NULL, f);
}

ccurl_file *ccurl_transfer_awaited(const ccurl_transfer *t) { return t->awaited; }
ccurl_transfer *ccurl_loop_awaiting(const ccurl_loop *loop) { return loop->awaiting; }
ccurl_transfer *ccurl_transfer_next_awaiting(const ccurl_transfer *t) { return t->next_awaiting; }

void ccurl_transfer_await(ccurl_transfer *t, ccurl_file *f) {
    bool was_waiting = t->awaited;
    t->awaited = f;
    if (was_waiting == (f != NULL)) return;
    if (f) {
        t->previous_awaiting = NULL;
        t->next_awaiting = t->loop->awaiting;
        if (t->next_awaiting) t->next_awaiting->previous_awaiting = t;
        t->loop->awaiting = t;
        return;
    }
    if (t->next_awaiting) t->next_awaiting->previous_awaiting = t->previous_awaiting;
    if (t->previous_awaiting) t->previous_awaiting->next_awaiting = t->next_awaiting;
    else t->loop->awaiting = t->next_awaiting;
    t->next_awaiting = t->previous_awaiting = NULL;
}

bool ccurl_transfer_take_answered(ccurl_transfer *t) {
    if (!t->answering || t->head_state != HEAD_DONE || t->answer_seen) return false;
    t->answer_seen = true;
    return true;
}

int ccurl_transfer_send_on(ccurl_transfer *t) {
    ccurl_transfer_await(t, NULL);
    // The call was waiting for the disk and not for the server.
    t->wait_began = ccurl_now();
    if (!t->pool) return 0;
    int others = t->paused || t->waits_for_room ? CURLPAUSE_RECV : CURLPAUSE_CONT;
    // After the pause in `on_read`, libcurl still sends bytes that it read before. Only then does it mark the transfer
    // as paused. Continuing an unmarked transfer would have no effect on its part. So pause it explicitly first.
    int code = (int)curl_easy_pause(t->easy, others | CURLPAUSE_SEND);
    return code ? code : (int)curl_easy_pause(t->easy, others);
}

// SPDX-License-Identifier: Apache-2.0
//
// The file of one download, on the helper thread: it is opened, locked, written, hashed, made durable and moved to its
// place.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void notify_owner(cfiles_part *p) { cfiles_disk_notify(p->work.disk); }

static void close_all(cfiles_part *p) {
    if (p->file >= 0) cfiles_unlock_and_close(p->file);
    if (p->directory >= 0) close(p->directory);
    p->file = p->directory = -1;
}

/// Ends the work on a part. Closing releases the lock. Returns false, since no step is left.
static bool settle(cfiles_part *p, cfiles_part_state state, cfiles_part_stage stage, int os_errno) {
    close_all(p);
    pthread_mutex_lock(&p->work.disk->lock);
    p->state = state;
    p->work.settled = true;
    p->stage = stage;
    p->os_errno = os_errno;
    p->durable = p->noted;
    pthread_mutex_unlock(&p->work.disk->lock);
    notify_owner(p);
    return false;
}

/// Records a failure and returns false. Written bytes stay for another attempt, if they can still be made durable.
static bool fail(cfiles_part *p, cfiles_part_stage stage, int os_errno) {
    if (p->begun && p->written > p->noted && fdatasync(p->file) == 0) cfiles_note_write(p, p->written, false);
    return settle(p, CFILES_PART_FAILED, stage, os_errno);
}

static bool open_part(cfiles_part *p) {
    const char *name = NULL;
    // A mount that failed before may work again.
    if (p->work.disk->root < 0) p->work.disk->root = cfiles_root_open(p->work.disk->path);
    if (p->work.disk->root < 0) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_PATH, -p->work.disk->root);
    int directory = cfiles_parent_beneath(p->work.disk->root, p->path, true, &name);
    if (directory < 0) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_PATH, -directory);
    p->directory = directory;
    if (strlen(name) > NAME_MAX - LONGEST_SUFFIX)
        return settle(p, CFILES_PART_FAILED, CFILES_STAGE_PATH, ENAMETOOLONG);
    memcpy(p->name, name, strlen(name) + 1);
    struct stat there, opened;
    if (fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode))
        return settle(p, CFILES_PART_FAILED, CFILES_STAGE_KIND, EISDIR);
    char part[NAME_MAX + 1];
    cfiles_suffixed(part, name, ".part");
    for (int attempt = 0;; attempt++) {
        p->file = openat(directory, part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (p->file < 0) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_PATH, errno);
        // A second name of the file may be outside of the root.
        if (fstat(p->file, &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_nlink > 1)
            return settle(p, CFILES_PART_FAILED, CFILES_STAGE_KIND, EINVAL);
        if (flock(p->file, LOCK_EX | LOCK_NB) != 0) {
            int why = errno;
            if (why == EWOULDBLOCK) cfiles_note_read(p);
            return settle(p, CFILES_PART_FAILED, CFILES_STAGE_LOCK, why);
        }
        // Between open and lock the holder may have renamed or removed the file. Then it is no longer the part.
        if (fstatat(directory, part, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == opened.st_ino &&
            there.st_dev == opened.st_dev)
            break;
        cfiles_unlock_and_close(p->file);
        p->file = -1;
        if (attempt == 10) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_LOCK, EAGAIN);
    }
    int why = cfiles_note_read(p);
    if (p->noted > opened.st_size) p->noted = 0;
    if (!why) why = cfiles_note_write(p, p->noted, false);
    if (why) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_NOTE, why);
    pthread_mutex_lock(&p->work.disk->lock);
    p->state = CFILES_PART_OPEN;
    p->found = p->durable = p->written = p->noted;
    pthread_mutex_unlock(&p->work.disk->lock);
    notify_owner(p);
    return true;
}

/// The order matters. A note that counts more bytes than the file has, or that describes another version, would mix two
/// files.
static int begin(cfiles_part *p, int64_t offset, char *text) {
    int why = 0;
    if (text) {
        pthread_mutex_lock(&p->work.disk->lock);
        char *before = p->text;
        p->text = text;
        pthread_mutex_unlock(&p->work.disk->lock);
        free(before);
        why = cfiles_note_write(p, offset, true);
    }
    if (!why && ftruncate(p->file, offset) != 0) why = errno;
    pthread_mutex_lock(&p->work.disk->lock);
    p->written = offset;
    pthread_mutex_unlock(&p->work.disk->lock);
    p->hashed = 0;
    p->begun = true;
    p->checkpoint_ns = cfiles_now();
    if (!why && p->checks) {
        if (!p->hash) p->hash = EVP_MD_CTX_new();
        if (!p->hash || EVP_DigestInit_ex(p->hash, EVP_sha256(), NULL) != 1) why = ENOMEM;
    }
    return why;
}

/// Writes `length` bytes of the ring from `tail` on, at most to the end of the ring. Returns 0 or an errno.
static int write_out(cfiles_part *p, uint64_t tail, size_t length) {
    size_t at = (size_t)(tail % RING);
    if (length > RING - at) length = RING - at;
    // If no older bytes wait to be hashed, the new bytes need not be read again.
    bool hashes = p->checks && p->hashed == p->written;
    while (length > 0) {
        ssize_t count = pwrite(p->file, p->ring + at, length, p->written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ENOSPC;
        if (hashes) {
            EVP_DigestUpdate(p->hash, p->ring + at, (size_t)count);
            p->hashed += count;
        }
        at += (size_t)count;
        length -= (size_t)count;
        pthread_mutex_lock(&p->work.disk->lock);
        p->written += count;
        p->tail += (uint64_t)count;
        bool notifies = p->starved && p->head - p->tail <= RING / 2;
        pthread_mutex_unlock(&p->work.disk->lock);
        if (notifies) notify_owner(p);
    }
    return 0;
}

/// Hashes the next bytes of the file that were not hashed when they were written. Returns 0 or an errno.
static int hash_slice(cfiles_part *p) {
    int64_t length = p->written - p->hashed;
    if (length > HASH_SLICE) length = HASH_SLICE;
    ssize_t count = pread(p->file, p->work.disk->slice, (size_t)length, p->hashed);
    if (count <= 0) return count < 0 ? errno : EIO;
    EVP_DigestUpdate(p->hash, p->work.disk->slice, (size_t)count);
    p->hashed += count;
    return 0;
}

/// Makes the written bytes durable and counts them in the note. Returns 0 or an errno.
static int checkpoint(cfiles_part *p) {
    if (fdatasync(p->file) != 0) return errno;
    int why = cfiles_note_write(p, p->written, false);
    p->checkpoint_ns = cfiles_now();
    pthread_mutex_lock(&p->work.disk->lock);
    p->durable = p->noted;
    pthread_mutex_unlock(&p->work.disk->lock);
    return why;
}

static void remove_part(cfiles_part *p) {
    char part[NAME_MAX + 1];
    cfiles_suffixed(part, p->name, ".part");
    unlinkat(p->directory, part, 0);
    cfiles_note_remove(p);
}

static bool finish(cfiles_part *p) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    if (p->checks && (EVP_DigestFinal_ex(p->hash, hash, NULL) != 1 || memcmp(hash, p->sha256, 32) != 0)) {
        remove_part(p);
        p->noted = 0;
        return settle(p, CFILES_PART_FAILED, CFILES_STAGE_CHECKSUM, 0);
    }
    if (fsync(p->file) != 0) return fail(p, CFILES_STAGE_WRITE, errno);
    char part[NAME_MAX + 1];
    cfiles_suffixed(part, p->name, ".part");
    if (renameat(p->directory, part, p->directory, p->name) != 0) return fail(p, CFILES_STAGE_RENAME, errno);
    cfiles_note_remove(p);
    p->noted = p->written;
    int why = cfiles_sync_directory(p->directory);
    if (why) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_RENAME, why);
    return settle(p, CFILES_PART_DONE, CFILES_STAGE_NONE, 0);
}

static bool suspend(cfiles_part *p) {
    int64_t size = p->begun ? p->written : p->found;
    if (size == 0) {
        remove_part(p);
    } else if (p->begun && p->written != p->noted) {
        int why = checkpoint(p);
        if (why) return settle(p, CFILES_PART_FAILED, CFILES_STAGE_WRITE, why);
    }
    return settle(p, CFILES_PART_SUSPENDED, CFILES_STAGE_NONE, 0);
}

bool cfiles_part_step(cfiles_work *w) {
    cfiles_part *p = (cfiles_part *)w;
    if (p->state == CFILES_PART_OPENING) return open_part(p);
    if (p->state != CFILES_PART_OPEN) return false;
    pthread_mutex_lock(&p->work.disk->lock);
    bool begins = p->begins, flush = p->flush;
    int64_t offset = p->begin_offset;
    char *text = p->begin_text;
    p->begin_text = NULL;
    p->begins = p->flush = false;
    int end = p->end;
    uint64_t tail = p->tail, head = p->head;
    size_t waiting = (size_t)(head - tail);
    pthread_mutex_unlock(&p->work.disk->lock);

    int why = begins ? begin(p, offset, text) : 0;
    if (why) return fail(p, CFILES_STAGE_WRITE, why);
    bool drains = waiting > 0 && (flush || end != END_NONE || waiting >= BATCH);
    if (drains && (why = write_out(p, tail, waiting))) return fail(p, CFILES_STAGE_WRITE, why);
    bool behind = p->begun && p->checks && p->hashed < p->written;
    if (behind && (end != END_SUSPEND) && (why = hash_slice(p))) return fail(p, CFILES_STAGE_WRITE, why);
    if (p->begun && end != END_FINISH) {
        bool old = p->written > p->noted && cfiles_now() - p->checkpoint_ns >= CHECKPOINT_NS;
        if ((old || p->written - p->noted >= CHECKPOINT_BYTES) && (why = checkpoint(p)))
            return fail(p, CFILES_STAGE_WRITE, why);
    }
    pthread_mutex_lock(&p->work.disk->lock);
    waiting = (size_t)(p->head - p->tail);
    end = p->end;
    // The end of the ring cuts a write in two. A flush includes both.
    bool rest = flush && p->tail < head;
    p->flush |= rest;
    pthread_mutex_unlock(&p->work.disk->lock);
    if (end == END_NONE)
        return waiting >= BATCH || rest || (p->begun && p->checks && p->hashed < p->written);
    if (waiting > 0) return true;
    if (end == END_SUSPEND) return suspend(p);
    if (p->checks && p->hashed < p->written) return true;
    return finish(p);
}

void cfiles_part_destroy(cfiles_work *w) {
    cfiles_part *p = (cfiles_part *)w;
    close_all(p);
    EVP_MD_CTX_free(p->hash);
    free(p->ring);
    free(p->begin_text);
    free(p->text);
    free(p->path);
    free(p);
}

bool cfiles_sha256(const void *bytes, size_t length, uint8_t *out) {
    return EVP_Digest(bytes, length, out, NULL, EVP_sha256(), NULL) == 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// The loop's side of a part. It copies bytes into the ring and requests steps. The thread does them (fill.c).
#include "internal.h"

#include <stdlib.h>
#include <string.h>

cfiles_part *cfiles_part_open(cfiles_disk *d, const char *path, const uint8_t *sha256) {
    cfiles_part *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->path = strdup(path);
    if (!p->path) {
        free(p);
        return NULL;
    }
    p->work = (cfiles_work){
        .disk = d, .path = p->path, .is_part = true, .step = cfiles_part_step, .destroy = cfiles_part_destroy};
    p->directory = p->file = -1;
    if (sha256) memcpy(p->sha256, sha256, 32);
    p->checks = sha256 != NULL;
    pthread_mutex_lock(&d->lock);
    cfiles_disk_enqueue(&p->work);
    pthread_mutex_unlock(&d->lock);
    return p;
}

cfiles_part_status cfiles_part_look(cfiles_part *p) {
    pthread_mutex_lock(&p->work.disk->lock);
    cfiles_part_status s = {
        .state = p->state,
        .stage = p->stage,
        .os_errno = p->os_errno,
        .found = p->found,
        .durable = p->durable,
        .written = p->written,
        // A paused download continues only when half of the ring is free. Otherwise it would soon pause again.
        .has_room = p->starved && p->head - p->tail <= RING / 2,
        .text = p->state == CFILES_PART_OPEN && !p->begins ? p->text : NULL,
        .holder = p->holder,
        .waits_since = cfiles_disk_waits_since(&p->work),
    };
    pthread_mutex_unlock(&p->work.disk->lock);
    return s;
}

bool cfiles_part_begin(cfiles_part *p, int64_t offset, const char *text) {
    char *copy = text ? strdup(text) : NULL;
    uint8_t *ring = p->ring ? p->ring : malloc(RING);
    if (!ring || (text && !copy)) {
        if (ring != p->ring) free(ring);
        free(copy);
        return false;
    }
    pthread_mutex_lock(&p->work.disk->lock);
    p->ring = ring;
    free(p->begin_text);
    p->begin_text = copy;
    p->begin_offset = offset;
    p->begins = true;
    cfiles_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
    return true;
}

bool cfiles_part_append(cfiles_part *p, const void *bytes, size_t length) {
    pthread_mutex_lock(&p->work.disk->lock);
    size_t used = (size_t)(p->head - p->tail);
    bool fits = p->state == CFILES_PART_OPEN && length <= RING - used;
    p->starved = !fits;
    pthread_mutex_unlock(&p->work.disk->lock);
    if (fits) {
        // The thread never touches the bytes after `head`, so the copy needs no lock.
        size_t at = (size_t)(p->head % RING), first = length < RING - at ? length : RING - at;
        memcpy(p->ring + at, bytes, first);
        memcpy(p->ring, (const uint8_t *)bytes + first, length - first);
    }
    pthread_mutex_lock(&p->work.disk->lock);
    if (fits) p->head += length;
    if (p->head - p->tail >= BATCH) cfiles_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
    return fits;
}

/// Has the thread write all bytes of the ring, and then end the part if `end` says so.
static void request_flush(cfiles_part *p, int end, bool freed) {
    pthread_mutex_lock(&p->work.disk->lock);
    if (end != END_NONE) p->end = end;
    p->flush = true;
    p->work.freed |= freed;
    cfiles_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
}

void cfiles_part_flush(cfiles_part *p) { request_flush(p, END_NONE, false); }
void cfiles_part_finish(cfiles_part *p) { request_flush(p, END_FINISH, false); }
void cfiles_part_suspend(cfiles_part *p) { request_flush(p, END_SUSPEND, false); }
void cfiles_part_free(cfiles_part *p) { request_flush(p, END_SUSPEND, true); }

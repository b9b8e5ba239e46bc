// SPDX-License-Identifier: Apache-2.0
//
// The helper thread and its queue. A part or a file is in the queue at most once. Each turn does one bounded piece of
// its work and puts the rest at the end of the queue. So a long hash delays others only briefly.
#include "part.h"

#include "ccurl.h"
#include "ccurl_files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void ccurl_disk_enqueue(ccurl_work *w) {
    ccurl_disk *d = w->disk;
    if (w->queued) return;
    w->queued = true;
    w->next = NULL;
    if (!d->first && !d->current) d->since = ccurl_now();
    if (d->last) d->last->next = w;
    else d->first = w;
    d->last = w;
    pthread_cond_signal(&d->work);
}

int64_t ccurl_disk_waits_since(const ccurl_work *w) {
    return w->queued || w->disk->current == w ? w->disk->since : 0;
}

void ccurl_disk_notify(ccurl_disk *d) { eventfd_write(d->event, 1); }

/// Works until the queue is empty. The caller holds the lock before and after. Each step runs without it.
static void serve(ccurl_disk *d) {
    ccurl_work *w;
    while ((w = d->first)) {
        d->first = w->next;
        if (!d->first) d->last = NULL;
        w->queued = false;
        d->current = w;
        d->since = ccurl_now();
        pthread_mutex_unlock(&d->lock);
        bool more = w->step(w);
        pthread_mutex_lock(&d->lock);
        d->current = NULL;
        if (w->freed && w->settled) {
            // If it was queued again meanwhile, it is destroyed in its next turn.
            if (!w->queued) w->destroy(w);
        } else if (more) {
            ccurl_disk_enqueue(w);
        }
    }
}

/// Serves the queue between two entries of the walk that removes old parts.
static void serve_between(void *context) {
    ccurl_disk *d = context;
    pthread_mutex_lock(&d->lock);
    serve(d);
    pthread_mutex_unlock(&d->lock);
}

static void *run(void *context) {
    ccurl_disk *d = context;
    d->root = ccurl_root_open(d->path);
    pthread_mutex_lock(&d->lock);
    while (true) {
        serve(d);
        if (d->stop) break;
        if (d->expire_after > 0) {
            int64_t after = d->expire_after;
            d->expire_after = 0;
            pthread_mutex_unlock(&d->lock);
            ccurl_expire_walk(d->root, after, serve_between, d);
            pthread_mutex_lock(&d->lock);
            continue;
        }
        pthread_cond_wait(&d->work, &d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

ccurl_disk *ccurl_disk_create(const char *root, const char *holder) {
    ccurl_disk *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->work, NULL);
    d->holder = strdup(holder);
    d->slice = malloc(HASH_SLICE);
    d->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    d->path = strdup(root);
    d->root = -1;
    // Only the loop's thread receives signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = d->holder && d->path && d->slice && d->event >= 0 && pthread_create(&d->thread, NULL, run, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) return d;
    if (d->event >= 0) close(d->event);
    free(d->path);
    free(d->slice);
    free(d->holder);
    free(d);
    return NULL;
}

void ccurl_disk_destroy(ccurl_disk *d) {
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    // A hanging disk must not keep the process alive. After this time the thread and its memory stay until the process
    // ends.
    limit.tv_sec += 10;
    if (pthread_timedjoin_np(d->thread, NULL, &limit) != 0) return;
    close(d->event);
    if (d->root >= 0) close(d->root);
    pthread_cond_destroy(&d->work);
    pthread_mutex_destroy(&d->lock);
    free(d->path);
    free(d->slice);
    free(d->holder);
    free(d);
}

bool ccurl_disk_current(ccurl_disk *d, char *path, size_t size) {
    pthread_mutex_lock(&d->lock);
    const ccurl_work *w = d->current;
    size_t length = w ? strnlen(w->path, size - 1) : 0;
    if (w) memcpy(path, w->path, length);
    path[length] = 0;
    bool is_part = w && w->is_part;
    pthread_mutex_unlock(&d->lock);
    return is_part;
}

int ccurl_disk_descriptor(const ccurl_disk *d) { return d->event; }

void ccurl_disk_drain(ccurl_disk *d) {
    eventfd_t count;
    eventfd_read(d->event, &count);
}

void ccurl_disk_expire(ccurl_disk *d, int64_t seconds) {
    pthread_mutex_lock(&d->lock);
    // 0 means that no walk is due.
    d->expire_after = seconds > 0 ? seconds : 1;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
}

ccurl_part *ccurl_part_open(ccurl_disk *d, const char *path, const uint8_t *sha256) {
    ccurl_part *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->path = strdup(path);
    if (!p->path) {
        free(p);
        return NULL;
    }
    p->work = (ccurl_work){
        .disk = d, .path = p->path, .is_part = true, .step = ccurl_part_step, .destroy = ccurl_part_destroy};
    p->directory = p->file = -1;
    if (sha256) memcpy(p->sha256, sha256, 32);
    p->checks = sha256 != NULL;
    pthread_mutex_lock(&d->lock);
    ccurl_disk_enqueue(&p->work);
    pthread_mutex_unlock(&d->lock);
    return p;
}

ccurl_part_status ccurl_part_look(ccurl_part *p) {
    pthread_mutex_lock(&p->work.disk->lock);
    ccurl_part_status s = {
        .state = p->state,
        .stage = p->stage,
        .os_errno = p->os_errno,
        .found = p->found,
        .durable = p->durable,
        .written = p->written,
        // A paused download continues only when half of the ring is free. Otherwise it would soon pause again.
        .has_room = p->starved && p->head - p->tail <= RING / 2,
        .text = p->state == CCURL_PART_OPEN && !p->begins ? p->text : NULL,
        .holder = p->holder,
        .waits_since = ccurl_disk_waits_since(&p->work),
    };
    pthread_mutex_unlock(&p->work.disk->lock);
    return s;
}

bool ccurl_part_begin(ccurl_part *p, int64_t offset, const char *text) {
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
    ccurl_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
    return true;
}

bool ccurl_part_append(ccurl_part *p, const void *bytes, size_t length) {
    pthread_mutex_lock(&p->work.disk->lock);
    size_t used = (size_t)(p->head - p->tail);
    bool fits = p->state == CCURL_PART_OPEN && length <= RING - used;
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
    if (p->head - p->tail >= BATCH) ccurl_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
    return fits;
}

/// Has the thread write all bytes of the ring, and then end the part if `end` says so.
static void request_flush(ccurl_part *p, int end, bool freed) {
    pthread_mutex_lock(&p->work.disk->lock);
    if (end != END_NONE) p->end = end;
    p->flush = true;
    p->work.freed |= freed;
    ccurl_disk_enqueue(&p->work);
    pthread_mutex_unlock(&p->work.disk->lock);
}

void ccurl_part_flush(ccurl_part *p) { request_flush(p, END_NONE, false); }
void ccurl_part_finish(ccurl_part *p) { request_flush(p, END_FINISH, false); }
void ccurl_part_suspend(ccurl_part *p) { request_flush(p, END_SUSPEND, false); }
void ccurl_part_free(ccurl_part *p) { request_flush(p, END_SUSPEND, true); }

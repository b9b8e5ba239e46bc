// SPDX-License-Identifier: Apache-2.0
//
// The helper thread and its queue. A part or a file is in the queue at most once. Each turn does one bounded piece of
// its work and puts the rest at the end of the queue. So a long hash delays others only briefly.
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void cfiles_disk_enqueue(cfiles_work *w) {
    cfiles_disk *d = w->disk;
    if (w->queued) return;
    w->queued = true;
    w->next = NULL;
    if (!d->first && !d->current) d->since = cfiles_now();
    if (d->last) d->last->next = w;
    else d->first = w;
    d->last = w;
    pthread_cond_signal(&d->work);
}

int64_t cfiles_disk_waits_since(const cfiles_work *w) {
    return w->queued || w->disk->current == w ? w->disk->since : 0;
}

void cfiles_disk_notify(cfiles_disk *d) { eventfd_write(d->event, 1); }

/// Works until the queue is empty. The caller holds the lock before and after. Each step runs without it.
static void serve(cfiles_disk *d) {
    cfiles_work *w;
    while ((w = d->first)) {
        d->first = w->next;
        if (!d->first) d->last = NULL;
        w->queued = false;
        d->current = w;
        d->since = cfiles_now();
        pthread_mutex_unlock(&d->lock);
        bool more = w->step(w);
        pthread_mutex_lock(&d->lock);
        d->current = NULL;
        if (w->freed && w->settled) {
            // If it was queued again meanwhile, it is destroyed in its next turn.
            if (!w->queued) w->destroy(w);
        } else if (more) {
            cfiles_disk_enqueue(w);
        }
    }
}

/// Serves the queue between two entries of the walk that removes old parts.
static void serve_between(void *context) {
    cfiles_disk *d = context;
    pthread_mutex_lock(&d->lock);
    serve(d);
    pthread_mutex_unlock(&d->lock);
}

static void *run(void *context) {
    cfiles_disk *d = context;
    d->root = cfiles_root_open(d->path);
    pthread_mutex_lock(&d->lock);
    while (true) {
        serve(d);
        if (d->stop) break;
        if (d->expire_after > 0) {
            int64_t after = d->expire_after;
            d->expire_after = 0;
            pthread_mutex_unlock(&d->lock);
            cfiles_expire_walk(d->root, after, serve_between, d);
            pthread_mutex_lock(&d->lock);
            continue;
        }
        pthread_cond_wait(&d->work, &d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

cfiles_disk *cfiles_disk_create(const char *root, const char *holder) {
    cfiles_disk *d = calloc(1, sizeof *d);
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

void cfiles_disk_destroy(cfiles_disk *d) {
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

bool cfiles_disk_current(cfiles_disk *d, char *path, size_t size) {
    pthread_mutex_lock(&d->lock);
    const cfiles_work *w = d->current;
    size_t length = w ? strnlen(w->path, size - 1) : 0;
    if (w) memcpy(path, w->path, length);
    path[length] = 0;
    bool is_part = w && w->is_part;
    pthread_mutex_unlock(&d->lock);
    return is_part;
}

int cfiles_disk_descriptor(const cfiles_disk *d) { return d->event; }

void cfiles_disk_drain(cfiles_disk *d) {
    eventfd_t count;
    eventfd_read(d->event, &count);
}

void cfiles_disk_expire(cfiles_disk *d, int64_t seconds) {
    pthread_mutex_lock(&d->lock);
    // 0 means that no walk is due.
    d->expire_after = seconds > 0 ? seconds : 1;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
}

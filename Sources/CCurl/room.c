// SPDX-License-Identifier: Apache-2.0
//
// How many descriptors connections take in all pools together. Only so many calls are ever under way; all other
// connections are kept for later ones, and given up before anything fails for want of a descriptor.
//
// libcurl closes an idle connection only when another one of the same pool goes idle and there are more than the pool may
// keep. So a pool in which nothing runs is made anew, and one in which something does keeps one only, each time.
#include "internal.h"

#include <sys/eventfd.h>
#include <unistd.h>

/// A look-up of a name takes four for a moment; fewer than twice that are none.
enum { SPARE = 8 };

void ccurl_room_opened(ccurl_pool *pool, ccurl_descriptor *d) {
    d->home = pool->index;
    pool->open++;
    pool->loop->held++;
}

void ccurl_room_closed(ccurl_loop *loop, const ccurl_descriptor *d) {
    if (!d->open) return;
    loop->pools[d->home]->open--;
    loop->held--;
}

void ccurl_room_emptied(ccurl_pool *pool) {
    ccurl_loop *loop = pool->loop;
    for (int fd = 0; pool->open > 0 && fd < loop->descriptor_capacity; fd++) {
        ccurl_descriptor *d = &loop->descriptors[fd];
        if (!d->open || d->home != pool->index) continue;
        ccurl_room_closed(loop, d);
        d->open = false;
    }
}

static bool is_tight(const ccurl_loop *loop) { return loop->is_short || loop->held >= loop->most_held; }

long ccurl_room_kept(const ccurl_loop *loop) { return loop->is_tight ? 1 : loop->max_connections; }

/// The pool with idle connections alone that was used longest ago; null: there is none.
static ccurl_pool *idlest(const ccurl_loop *loop, const ccurl_pool *next) {
    ccurl_pool *found = NULL;
    for (int i = 0; i < loop->pool_count; i++) {
        ccurl_pool *pool = loop->pools[i];
        if (!pool || pool == next || !pool->open || pool->running) continue;
        if (!found || pool->last_use < found->last_use) found = pool;
    }
    return found;
}

void ccurl_room_make(ccurl_loop *loop, const ccurl_pool *next) {
    ccurl_pool *pool;
    while (is_tight(loop) && (pool = idlest(loop, next)))
        if (!ccurl_pool_renew(pool)) break;
    if (loop->is_tight == is_tight(loop)) return;
    loop->is_tight = !loop->is_tight;
    for (int i = 0; i < loop->pool_count; i++)
        if (loop->pools[i]) curl_multi_setopt(loop->pools[i]->handle, CURLMOPT_MAXCONNECTS, ccurl_room_kept(loop));
}

void ccurl_loop_set_short(ccurl_loop *loop, bool is_short) {
    loop->is_short = is_short;
    ccurl_room_make(loop, NULL);
}

int ccurl_loop_held(const ccurl_loop *loop) { return loop->held; }

bool ccurl_is_short_of_descriptors(void) {
    int spare[SPARE], count = 0;
    while (count < SPARE && (spare[count] = eventfd(0, EFD_CLOEXEC)) >= 0) count++;
    for (int i = 0; i < count; i++) close(spare[i]);
    return count < SPARE;
}

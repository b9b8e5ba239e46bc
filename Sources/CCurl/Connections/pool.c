// SPDX-License-Identifier: Apache-2.0
//
// The connection pools of a loop, each with its timer.
#include "transfer.h"

// Without a shortage no pool reaches the limit: calls, idle connections and retired ones together are always fewer.
long ccurl_pool_limit(const ccurl_loop *loop) { return loop->is_tight ? 1 : 8 * loop->max_connections; }

/// Whether a transfer leaves a connection idle. A transfer that waits for its download's disk or for room keeps it, and
/// so does one that has not sent its request. A connection that is about to be closed counts as idle for that time.
static bool leaves_idle(const ccurl_transfer *t) { return t && t->sendings > 0 && !t->paused && !t->waits_for_room; }

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *per_socket) {
    (void)per_socket;
    ccurl_pool *pool = context;
    ccurl_descriptor *d = ccurl_table_touch(pool->loop, fd);
    if (!d) return -1;
    d->pool = pool->index;
    bool is_open = ccurl_socket_is_open(pool->loop, fd);
    if (what == CURL_POLL_REMOVE && is_open) {
        ccurl_transfer *t = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
        if (leaves_idle(t)) d->idle_since = ++pool->loop->idlings;
        if (leaves_idle(t) && !t->multiplexed) {
            ccurl_table_set_idle(pool->loop, fd);
            d->wanted = EVENT_READ;
            return 0;
        }
    }
    ccurl_table_set_used(pool->loop, fd);
    if (what == CURL_POLL_REMOVE) {
        d->wanted = 0;
        // The resolver closes its socket pair without a notice, so its number may mean another file next time.
        if (!is_open) d->closed = true;
    } else {
        d->idle_since = 0;
        d->wanted = (uint8_t)((what & CURL_POLL_IN ? EVENT_READ : 0) | (what & CURL_POLL_OUT ? EVENT_WRITE : 0));
    }
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    ccurl_pool *pool = context;
    // A timeout of 0 becomes 0 and not the current time. The owner's clock was read before, and would not reach the
    // current time in this turn.
    pool->deadline = milliseconds < 0 ? -1 : milliseconds == 0 ? 0 : ccurl_now() + (int64_t)milliseconds * 1000000;
    return 0;
}

static void configure(ccurl_pool *pool) {
    pool->deadline = -1;
    pool->names = pool->names_before = 0;
    curl_multi_setopt(pool->handle, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(pool->handle, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->handle, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(pool->handle, CURLMOPT_TIMERDATA, pool);
    curl_multi_setopt(pool->handle, CURLMOPT_MAXCONNECTS, ccurl_pool_limit(pool->loop));
    curl_multi_setopt(pool->handle, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
}

ccurl_pool *ccurl_pool_create(ccurl_loop *loop) {
    int index = 0;
    while (index < POOLS && loop->pools[index]) index++;
    if (index == POOLS) return NULL;
    ccurl_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->handle = curl_multi_init();
    if (!pool->handle) {
        free(pool);
        return NULL;
    }
    pool->loop = loop;
    pool->index = (uint16_t)index;
    configure(pool);
    loop->held += POOL_DESCRIPTORS;
    loop->pools[index] = pool;
    if (loop->pool_count <= index) loop->pool_count = index + 1;
    return pool;
}

bool ccurl_pool_renew(ccurl_pool *pool) {
    CURLM *fresh = curl_multi_init();
    if (!fresh) return false;
    curl_multi_cleanup(pool->handle);
    ccurl_table_emptied(pool);
    pool->handle = fresh;
    configure(pool);
    return true;
}

void ccurl_pool_destroy(ccurl_pool *pool) {
    ccurl_loop *loop = pool->loop;
    curl_multi_cleanup(pool->handle);
    ccurl_table_emptied(pool);
    loop->held -= POOL_DESCRIPTORS;
    loop->pools[pool->index] = NULL;
    while (loop->pool_count > 0 && !loop->pools[loop->pool_count - 1]) loop->pool_count--;
    free(pool);
}

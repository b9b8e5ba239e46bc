// SPDX-License-Identifier: Apache-2.0
//
// Limits the descriptors of connections in all pools together. Only a limited number of calls runs. All other
// connections are kept for later calls, and are closed before an operation fails for lack of a descriptor.
//
// If the process is short of descriptors, a pool without running transfers is created again. In a pool with running
// transfers, libcurl then closes the oldest idle connection whenever another one becomes idle, until one is left.
//
// Otherwise libcurl closes no connection to make room. Until 8.9 it leaves a record of the host behind each time, and
// walks through all records for each call: after 40,000 hosts a call took 3 ms. So this file decides when a connection
// is opened.
//
// If the pool is full, a host that was not called lately gets a connection for one call only. A host that was called
// lately replaces the connection that has been idle longest. So many hosts that are called once each do not displace
// the connections of other hosts.
#include "transfer.h"

static bool is_tight(const ccurl_loop *loop) { return loop->is_short || loop->held >= loop->most_held; }

/// How many connections a pool keeps.
static long kept(const ccurl_loop *loop) { return loop->is_tight ? 1 : loop->max_connections; }

/// The most connections that libcurl may have to close at its next check. Above this number no connection is replaced.
static long most_retired(const ccurl_loop *loop) { return (loop->max_connections + 3) / 4; }

/// Ends the connection of the pool that has been idle longest. False if no connection is idle.
static bool retire_oldest(ccurl_pool *pool) {
    ccurl_loop *loop = pool->loop;
    int oldest = -1;
    for (int fd = 0; fd < loop->descriptor_capacity; fd++) {
        const ccurl_descriptor *d = &loop->descriptors[fd];
        if (!d->open || d->home != pool->index || !d->idle_since || d->retired) continue;
        if (oldest < 0 || d->idle_since < loop->descriptors[oldest].idle_since) oldest = fd;
    }
    if (oldest >= 0) ccurl_idle_retire(loop, oldest);
    return oldest >= 0;
}

void ccurl_descriptors_opening(ccurl_transfer *t) {
    ccurl_pool *pool = t->home;
    if (pool->open - pool->retired < kept(t->loop)) return;
    if (t->host_is_known && t->loop->is_tight) return;
    if (t->host_is_known && pool->retired < most_retired(t->loop) && retire_oldest(pool)) return;
    curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 1L);
}

/// The pool with idle connections only whose last use is oldest; null: none.
static ccurl_pool *idlest(const ccurl_loop *loop, const ccurl_pool *next) {
    ccurl_pool *found = NULL;
    for (int i = 0; i < loop->pool_count; i++) {
        ccurl_pool *pool = loop->pools[i];
        if (!pool || pool == next || !pool->open || pool->running) continue;
        if (!found || pool->last_use < found->last_use) found = pool;
    }
    return found;
}

void ccurl_descriptors_release(ccurl_loop *loop, const ccurl_pool *next) {
    ccurl_pool *pool;
    while (is_tight(loop) && (pool = idlest(loop, next)))
        if (!ccurl_pool_renew(pool)) break;
    if (loop->is_tight == is_tight(loop)) return;
    loop->is_tight = !loop->is_tight;
    long limit = ccurl_pool_limit(loop);
    for (int i = 0; i < loop->pool_count; i++)
        if (loop->pools[i]) curl_multi_setopt(loop->pools[i]->handle, CURLMOPT_MAXCONNECTS, limit);
}

void ccurl_loop_set_short(ccurl_loop *loop, bool is_short) {
    loop->is_short = is_short;
    ccurl_descriptors_release(loop, NULL);
}

int ccurl_loop_held(const ccurl_loop *loop) { return loop->held; }

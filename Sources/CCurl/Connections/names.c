// SPDX-License-Identifier: Apache-2.0
//
// How many names libcurl remembers. It keeps each address for CCURL_ADDRESS_AGE. At the end of each transfer it walks
// through all addresses of the pool and removes old ones (7.88 to 8.20). With 40,000 names a walk took 1.5 ms, for each
// call to any host.
//
// So a pool that has looked up many names drops all of them. A dropped name is looked up again when a call needs it.
#include "transfer.h"

/// After so many look-ups, within one or two times CCURL_ADDRESS_AGE, a pool drops its names. A walk through so many
/// takes a few microseconds.
enum { MOST_NAMES = 1024 };

/// An address is in the cache for at most one span, so older look-ups do not count.
static const int64_t SPAN = CCURL_ADDRESS_AGE * 1000000000;

static void set_age(ccurl_transfer *t, long age) {
    if (t->address_age != age) curl_easy_setopt(t->easy, CURLOPT_DNS_CACHE_TIMEOUT, t->address_age = age);
}

void ccurl_names_asked(ccurl_transfer *t) {
    ccurl_pool *pool = t->home;
    int64_t now = ccurl_now(), passed = now - pool->names_since;
    if (passed >= SPAN) {
        pool->names_before = passed < 2 * SPAN ? pool->names : 0;
        pool->names = 0;
        pool->names_since = now;
    }
    pool->names++;
    set_age(t, CCURL_ADDRESS_AGE);
}

void ccurl_names_read(ccurl_transfer *t) {
    // With an age of 0, the walk at the end of this transfer removes all addresses.
    set_age(t, t->home->names + t->home->names_before < MOST_NAMES ? CCURL_ADDRESS_AGE : 0);
}

void ccurl_names_pruned(ccurl_transfer *t) {
    // If other transfers still use its connection, a transfer does not walk.
    if (t->address_age == 0 && !t->multiplexed) t->home->names = t->home->names_before = 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// The connection pools of a loop, their timers, and the socket changes for the owner's epoll.
#include "internal.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READ = 1, WRITE = 2 };

int64_t ccurl_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ccurl_wall_seconds(void) { return time(NULL); }

int ccurl_global_start(void) {
    // OpenSSL writes with write(2), and CURLOPT_NOSIGNAL leaves SIGPIPE to the program.
    signal(SIGPIPE, SIG_IGN);
    // With SIGXFSZ ignored, a limit of file sizes (ulimit -f) fails a write, which ends a download instead of the
    // program.
    signal(SIGXFSZ, SIG_IGN);
    // libidn2 reads host names in the encoding of the locale. In "C" it would refuse every name beyond ASCII.
    setlocale(LC_CTYPE, "C.UTF-8");
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

unsigned ccurl_version_number(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }
const char *ccurl_version_text(void) { return curl_version_info(CURLVERSION_NOW)->version; }
bool ccurl_has_feature(unsigned bit) { return ((unsigned)curl_version_info(CURLVERSION_NOW)->features & bit) != 0; }

ccurl_descriptor *ccurl_loop_touch(ccurl_loop *loop, int fd) {
    if (fd < 0) return NULL;
    if (fd >= loop->descriptor_capacity) {
        int capacity = loop->descriptor_capacity ? loop->descriptor_capacity : 64;
        while (capacity <= fd) capacity *= 2;
        ccurl_descriptor *grown = realloc(loop->descriptors, (size_t)capacity * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + loop->descriptor_capacity, 0, (size_t)(capacity - loop->descriptor_capacity) * sizeof *grown);
        loop->descriptors = grown;
        uint16_t *ports = realloc(loop->idle_ports, (size_t)capacity * sizeof *ports);
        if (!ports) return NULL;
        memset(ports + loop->descriptor_capacity, 0, (size_t)(capacity - loop->descriptor_capacity) * sizeof *ports);
        loop->idle_ports = ports;
        loop->descriptor_capacity = capacity;
    }
    ccurl_descriptor *d = &loop->descriptors[fd];
    if (!d->listed) {
        if (loop->dirty_count == loop->dirty_capacity) {
            int capacity = loop->dirty_capacity ? loop->dirty_capacity * 2 : 64;
            int *grown = realloc(loop->dirty, (size_t)capacity * sizeof *grown);
            if (!grown) return NULL;
            loop->dirty = grown;
            loop->dirty_capacity = capacity;
        }
        loop->dirty[loop->dirty_count++] = fd;
        d->listed = true;
    }
    return d;
}

/// Whether a transfer leaves a connection idle. A transfer that waits for its download's disk or for room keeps it, and
/// so does one that has not sent its request. A connection that is about to be closed counts as idle for that time.
static bool leaves_idle(const ccurl_transfer *t) { return t && t->sendings > 0 && !t->paused && !t->waits_for_room; }

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *per_socket) {
    (void)per_socket;
    ccurl_pool *pool = context;
    ccurl_descriptor *d = ccurl_loop_touch(pool->loop, fd);
    if (!d) return -1;
    d->pool = pool->index;
    bool is_open = ccurl_socket_is_open(pool->loop, fd);
    if (what == CURL_POLL_REMOVE && is_open) {
        ccurl_transfer *t = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
        if (leaves_idle(t)) d->idle_since = ++pool->loop->idlings;
        if (leaves_idle(t) && !t->multiplexed) {
            ccurl_idle_begin(pool->loop, fd);
            d->wanted = READ;
            return 0;
        }
    }
    ccurl_idle_end(pool->loop, fd);
    if (what != CURL_POLL_REMOVE) d->idle_since = 0;
    if (what == CURL_POLL_REMOVE) {
        d->wanted = 0;
        // The resolver closes its socket pair without a notice, so its number may mean another file next time.
        if (!is_open) d->closed = true;
    } else {
        d->wanted = (uint8_t)((what & CURL_POLL_IN ? READ : 0) | (what & CURL_POLL_OUT ? WRITE : 0));
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
    curl_multi_setopt(pool->handle, CURLMOPT_MAXCONNECTS, ccurl_descriptors_limit(pool->loop));
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
    ccurl_descriptors_emptied(pool);
    pool->handle = fresh;
    configure(pool);
    return true;
}

void ccurl_pool_destroy(ccurl_pool *pool) {
    ccurl_loop *loop = pool->loop;
    curl_multi_cleanup(pool->handle);
    ccurl_descriptors_emptied(pool);
    loop->held -= POOL_DESCRIPTORS;
    loop->pools[pool->index] = NULL;
    while (loop->pool_count > 0 && !loop->pools[loop->pool_count - 1]) loop->pool_count--;
    free(pool);
}

ccurl_loop *ccurl_loop_create(const ccurl_settings *s) {
    ccurl_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->max_connections = s->max_connections;
    loop->most_held = s->most_held;
    loop->user_agent = strdup(s->user_agent);
    loop->accept_encoding = strdup(s->accept_encoding);
    loop->ca_file = s->ca_file ? strdup(s->ca_file) : NULL;
    for (int i = 0; i < 2; i++) {
        if (!ccurl_pool_create(loop)) {
            ccurl_loop_destroy(loop);
            return NULL;
        }
    }
    return loop;
}

void ccurl_loop_destroy(ccurl_loop *loop) {
    for (int i = 0; i < POOLS; i++)
        if (loop->pools[i]) ccurl_pool_destroy(loop->pools[i]);
    free(loop->descriptors);
    free(loop->idle_ports);
    free(loop->dirty);
    free(loop->user_agent);
    free(loop->accept_encoding);
    free(loop->ca_file);
    free(loop);
}

// A connection that becomes idle and is used again causes no epoll_ctl, since the owner always waits for its bytes.
// Only the difference between the owner's interest and the wanted interest is returned.
int ccurl_loop_take_changes(ccurl_loop *loop, ccurl_socket_change *out, int capacity) {
    int count = 0;
    while (loop->dirty_next < loop->dirty_count && count + 2 <= capacity) {
        int fd = loop->dirty[loop->dirty_next++];
        ccurl_descriptor *d = &loop->descriptors[fd];
        d->listed = false;
        if (d->closed && d->applied) {
            out[count++] = (ccurl_socket_change){.fd = fd};
            d->applied = 0;
        }
        d->closed = false;
        if (d->wanted != d->applied) {
            out[count++] = (ccurl_socket_change){.fd = fd, .read = d->wanted & READ, .write = d->wanted & WRITE};
            d->applied = d->wanted;
        }
    }
    if (loop->dirty_next == loop->dirty_count) loop->dirty_next = loop->dirty_count = 0;
    return count;
}

int64_t ccurl_loop_deadline(const ccurl_loop *loop) {
    int64_t earliest = -1;
    for (int i = 0; i < loop->pool_count; i++) {
        if (!loop->pools[i]) continue;
        int64_t deadline = loop->pools[i]->deadline;
        if (deadline >= 0 && (earliest < 0 || deadline < earliest)) earliest = deadline;
    }
    return earliest;
}

void ccurl_loop_socket_ready(ccurl_loop *loop, int fd, bool readable, bool writable) {
    if (fd < 0 || fd >= loop->descriptor_capacity) return;
    const ccurl_descriptor *d = &loop->descriptors[fd];
    if (!d->wanted || !loop->pools[d->pool]) return;
    if (d->idle) return ccurl_idle_ready(loop, fd);
    int running;
    int events = (readable ? CURL_CSELECT_IN : 0) | (writable ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(loop->pools[d->pool]->handle, fd, events, &running);
}

void ccurl_loop_expire(ccurl_loop *loop, int64_t now) {
    for (int i = 0; i < loop->pool_count; i++) {
        ccurl_pool *pool = loop->pools[i];
        if (!pool || pool->deadline < 0 || pool->deadline > now) continue;
        int running;
        pool->deadline = -1;
        curl_multi_socket_action(pool->handle, CURL_SOCKET_TIMEOUT, 0, &running);
        // libcurl rounds down to milliseconds, and does not set the timer again for the same time. Without this check,
        // a call that came a fraction too early would be the last one.
        long again = -1;
        if (pool->deadline < 0 && curl_multi_timeout(pool->handle, &again) == CURLM_OK && again >= 0)
            pool->deadline = ccurl_now() + (again ? again : 1) * 1000000;
    }
}

ccurl_transfer *ccurl_loop_next_done(ccurl_loop *loop, int *code) {
    for (int i = 0; i < loop->pool_count; i++) {
        if (!loop->pools[i]) continue;
        int left;
        CURLMsg *message;
        while ((message = curl_multi_info_read(loop->pools[i]->handle, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            ccurl_transfer *t = NULL;
            *code = message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
            if (!t) continue;
            t->is_done = *code == CURLE_OK;
            ccurl_names_pruned(t);
            if (*code == CURLE_RECV_ERROR && ccurl_session_is_broken(t)) ccurl_socket_end(t);
            return t;
        }
    }
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
//
// A loop: its pools, its timers and its ended transfers.
#include "transfer.h"

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

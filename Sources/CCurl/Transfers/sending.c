// SPDX-License-Identifier: Apache-2.0
//
// One sending of a request: its options, its pool, its start and its end.
#include "transfer.h"

/// libcurl 7.88 accepts up to 128 KiB of headers over HTTP/2. If its buffer is smaller, it looks for the rest on the
/// socket, which is empty, and may deliver the rest before the beginning. Unused pages of the buffer take no memory.
static const long HTTP2_BUFFER = 128 * 1024;

static const char *const methods[] = {"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"};

static void set_method(ccurl_transfer *t, const ccurl_sending *s) {
    CURL *e = t->easy;
    bool head = s->method == METHOD_HEAD;
    if (s->has_body && t->parts) {
        curl_easy_setopt(e, CURLOPT_MIMEPOST, t->parts);
    } else if (s->has_body) {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->body.length ? (char *)(t->lent ? t->lent : t->body.bytes) : "");
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body.length);
    }
    if (t->method_set && t->method == s->method && t->method_has_body == s->has_body) return;
    if (!s->has_body) curl_easy_setopt(e, head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    int usual = s->has_body ? METHOD_POST : head ? METHOD_HEAD : METHOD_GET;
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, s->method == usual ? NULL : methods[s->method]);
    t->method_set = true;
    t->method = s->method;
    t->method_has_body = s->has_body;
}

/// The pool for a sending (see POOLS), created if it is missing. Null without memory.
static ccurl_pool *pool_for(ccurl_transfer *t, const ccurl_sending *s, bool shares) {
    int reach = s->public_only ? 0 : 1;
    ccurl_transport *own = t->transport;
    if (s->may_share && s->https == shares) return (own ? own->pools : t->loop->pools)[reach];
    ccurl_pool **unshared = own ? own->unshared : t->loop->unshared, **alone = own ? own->alone : t->loop->alone;
    ccurl_pool **pool = &(s->may_share ? unshared : alone)[reach];
    if (!*pool) *pool = ccurl_pool_create(t->loop);
    return *pool;
}

int ccurl_transfer_start(ccurl_transfer *t, const ccurl_sending *s) {
    if (t->is_broken) return (int)CURLM_OUT_OF_MEMORY;
    CURL *e = t->easy;
    set_method(t, s);
    // Only TLS connections can use HTTP/2, where it is worth waiting for a shared connection. With plain HTTP a slow
    // first answer would delay all others to that host. A download waits for the disk at times, and on HTTP/2 libcurl
    // 7.88 would let the whole connection wait.
    bool shares = s->https && s->may_share && s->may_multiplex && !t->part;
    if (!t->version_set || t->shares_http2 != shares) {
        curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)(shares ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(e, CURLOPT_PIPEWAIT, (long)shares);
        curl_easy_setopt(e, CURLOPT_BUFFERSIZE, shares ? HTTP2_BUFFER : (long)CCURL_BUFFER);
        t->version_set = true;
        t->shares_http2 = shares;
    }
    if (t->total_ms != s->total_ms) curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, t->total_ms = s->total_ms);
    if (t->connect_ms != s->connect_ms) curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, t->connect_ms = s->connect_ms);
    if (t->address_age != s->address_age)
        curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, t->address_age = s->address_age);
    // Ranges count bytes as they are sent, so a decoded body cannot be continued.
    if (t->identity != (t->part != NULL)) {
        t->identity = t->part != NULL;
        curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, t->identity ? NULL : t->loop->accept_encoding);
    }
    if (t->library_decodes != s->library_decodes) {
        t->library_decodes = s->library_decodes;
        curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, (long)t->library_decodes);
    }
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->has_headers ? t->headers : NULL);
    curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, (long)!s->may_share);
    curl_easy_setopt(e, CURLOPT_FORBID_REUSE, (long)!s->may_share);

    t->public_only = s->public_only;
    t->repeatable = s->repeatable;
    t->host_is_known = s->host_is_known;
    const char *proxy = t->transport ? t->transport->settings.proxy : NULL;
    t->asks_tls = s->https && !(proxy && strncmp(proxy, "https", 5) == 0);
    t->first_byte_ns = s->first_byte_ms * 1000000;
    t->low_speed_bytes = s->low_speed_bytes;
    t->low_speed_ns = s->low_speed_ms * 1000000;
    t->answer_limit = s->max_response_bytes;
    t->sink = t->part ? UNDECIDED : TO_MEMORY;
    t->file_limit = INT64_MAX;
    t->filed = 0;
    t->paused = false;
    ccurl_transfer_forget_room(t);
    t->head.length = t->answer.length = t->head_total = 0;
    t->head_state = HEAD_START;
    t->head_status = t->sendings = 0;
    t->upload_total = t->answer_total = 0;
    ccurl_transfer_await(t, NULL);
    t->wait_began = t->uploaded = t->slow_since = t->window_bytes = t->window_began = t->received = 0;
    t->facts = (ccurl_result){0};
    t->has_location = t->has_length = t->folding = t->opened = t->answering = t->cut_off = t->coded = false;
    t->decodes = s->decodes;
    ccurl_forget_raw(t);
    t->is_done = t->multiplexed = t->awaits_close = false;
    ccurl_coding_end(t);
    t->remote_ip[0] = t->error_text[0] = 0;

    t->started_ns = ccurl_now();
    ccurl_pool *pool = pool_for(t, s, shares);
    if (!pool) return (int)CURLM_OUT_OF_MEMORY;
    ccurl_descriptors_release(t->loop, pool);
    pool->last_use = ++t->loop->sendings;
    CURLMcode code = curl_multi_add_handle(pool->handle, e);
    if (code != CURLM_OK) return (int)code;
    t->home = pool;
    t->pool = pool->handle;
    pool->running++;
    // The found address enters libcurl's cache like one that libcurl has looked up.
    t->facts.looked_up = t->found != NULL;
    if (t->found) ccurl_names_asked(t);
    return 0;
}

void ccurl_transfer_stop(ccurl_transfer *t) {
    ccurl_transfer_await(t, NULL);
    ccurl_transfer_forget_room(t);
    if (t->pool) {
        curl_multi_remove_handle(t->pool, t->easy);
        t->home->running--;
        t->is_worn |= !t->is_done;
    }
    t->pool = NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/// A finished transfer keeps so many bytes. 5,000 calls in flight leave about 20 KB each, of which libcurl takes 14.
enum { KEEP = 2048 };

/// libcurl 7.88 accepts up to 128 KiB of headers over HTTP/2. If its buffer is smaller, it looks for the rest on the
/// socket, which is empty, and may deliver the rest before the beginning. Unused pages of the buffer take no memory.
static const long HTTP2_BUFFER = 128 * 1024;

static const char *const methods[] = {"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"};

/// Runs before each writing of the request, on new and on reused connections.
static int before_request(void *context, char *peer_ip, char *local_ip, int peer_port, int local_port) {
    (void)local_ip;
    ccurl_transfer *t = context;
    ccurl_names_read(t);
    if (t->sendings > 0) {
        if (ccurl_session_is_broken(t)) ccurl_socket_end(t);
        // The headers would be as large the next time.
        t->headers_too_large = ccurl_headers_lost(t);
        if (t->headers_too_large) return CURL_PREREQFUNC_ABORT;
    }
    t->local_port = local_port;
    t->peer_port = peer_port;
    size_t length = strnlen(peer_ip, sizeof t->remote_ip - 1);
    memcpy(t->remote_ip, peer_ip, length);
    t->remote_ip[length] = 0;
    if (t->public_only && !(t->transport && t->transport->proxy) && cresolver_address_text_is_public(peer_ip) != 1) {
        t->denied = true;
        t->opened = false;
        return CURL_PREREQFUNC_ABORT;
    }
    // libcurl sends the request again if a reused connection turns out dead, even a POST of which bytes have left. One
    // repetition is correct if the request may be repeated or certainly has not left. A 417 answer asks for it.
    if (t->sendings > 0 && t->head_status != 417) {
        long sent = 0;
        curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
        if (t->sendings > 1 || (!t->repeatable && sent > 0)) {
            t->resend_refused = true;
            return CURL_PREREQFUNC_ABORT;
        }
    }
    if (t->sendings > 0) t->is_worn = true;
    if (t->asks_tls) ccurl_certificate_look(t);
    t->sendings++;
    t->answering = false;
    ccurl_transfer_await(t, NULL);
    if (t->first_byte_ns) t->wait_began = ccurl_now();
    // If the check retires the connection, the write fails before its first byte, and libcurl calls this again.
    t->multiplexed = ccurl_idle_check(t, local_port);
    // A host or a NAT that has dropped one open connection has dropped the others as well. After two dead ones, 3 of 8
    // such calls failed. So libcurl's second sending uses a new one. Over HTTP/2 all calls share one connection.
    if (!t->multiplexed) curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
    return CURL_PREREQFUNC_OK;
}

/// CURLOPT_SSL_CTX_FUNCTION: TLS begins, so the steps before it are done.
static CURLcode before_tls(CURL *easy, void *context, void *transfer) {
    (void)easy;
    (void)context;
    ((ccurl_transfer *)transfer)->tls_began = true;
    return CURLE_OK;
}

/// CURLOPT_RESOLVER_START_FUNCTION: the cached address is missing or too old.
static int on_look_up(void *resolver, void *reserved, void *transfer) {
    (void)resolver;
    (void)reserved;
    ccurl_transfer *t = transfer;
    t->looked_up = true;
    ccurl_names_asked(t);
    return 0;
}

/// Counts the bytes as received, before they are decompressed. libcurl's own limits leave them out.
static int on_progress(void *context, curl_off_t total, curl_off_t received, curl_off_t upload, curl_off_t uploaded) {
    ccurl_transfer *t = context;
    t->received = received;
    t->answer_total = total;
    t->upload_total = upload;
    if (uploaded != t->uploaded) {
        t->uploaded = uploaded;
        if (t->first_byte_ns) t->wait_began = ccurl_now();
    }
    // libcurl calls this once more at the end of a transfer, before it releases the connection.
    if (t->awaits_close) ccurl_closing_look(t);
    int64_t limit = t->sink == TO_MEMORY ? t->answer_limit : t->file_limit;
    if (received > limit || (total > limit && t->method != METHOD_HEAD)) {
        t->body_too_large = true;
        return 1;
    }
    return 0;
}

/// Sets the options that are equal for all sendings. False without memory.
static bool configure(ccurl_transfer *t) {
    ccurl_loop *loop = t->loop;
    const ccurl_transport *transport = t->transport;
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error_text);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, ccurl_on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, ccurl_on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(e, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, on_look_up);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, ccurl_socket_open);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t);
    // The connection outlives the transfer that opened it.
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, ccurl_socket_close);
    curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, loop);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    // An empty name and not null: with null, http_proxy of the environment would apply.
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    // A call that ends during its look-up would wait for the resolver's thread, and block the loop. With a silent name
    // server this took 3.3 s at `timeout:2 attempts:2`, and 10 s or more with glibc's defaults. This option leaves the
    // thread behind.
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    // A resumed session (RFC 8446 §2.2) sends no certificate, checks none, and gets new tickets. So an expired
    // certificate, a replaced file, or one that is no longer trusted would stay valid while calls follow each other.
    //
    // So each connection makes a full handshake, also with a proxy. It costs 0.4 ms of CPU on each side (OpenSSL 3.0,
    // RSA 2048), and a round trip with TLS 1.2.
    curl_easy_setopt(e, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (loop->ca_file) {
        curl_easy_setopt(e, CURLOPT_CAINFO, loop->ca_file);
        // Debian's libcurl would trust the system's directory of authorities in addition to the file.
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    // libcurl requests encodings, and this library decodes them.
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, loop->accept_encoding);
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, loop->user_agent);
    // Less than the usual 60 and 75 seconds after which servers close idle connections.
    curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, 55L);
    curl_easy_setopt(e, CURLOPT_MAXLIFETIME_CONN, 900L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    if (!transport) return true;
    // The answer of a SOCKS proxy is not visible. TLS with an HTTP proxy precedes the proxy's answer.
    if (transport->proxy && strncmp(transport->proxy, "socks", 5) == 0) {
        curl_easy_setopt(e, CURLOPT_SSL_CTX_FUNCTION, before_tls);
        curl_easy_setopt(e, CURLOPT_SSL_CTX_DATA, t);
    }
    return ccurl_transport_apply(transport, e) == 0;
}

ccurl_transfer *ccurl_transfer_create(ccurl_loop *loop, ccurl_transport *transport) {
    ccurl_transfer *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->loop = loop;
    t->transport = transport;
    t->room = INT64_MAX;
    t->easy = curl_easy_init();
    if (t->easy && configure(t)) return t;
    curl_easy_cleanup(t->easy);
    free(t);
    return NULL;
}

/// Renews the handle, so that this call does not affect the next one: libcurl 7.88 counts over all calls of a handle
/// how often it sent a request again, and refuses the sixth time.
///
/// It needs another handle. A reset one may keep its buffer, has the default buffer size and accepts no other.
static void renew(ccurl_transfer *t) {
    CURL *fresh = curl_easy_init();
    t->is_worn = false;
    t->is_broken = !fresh;
    if (!fresh) return;
    curl_easy_cleanup(t->easy);
    t->easy = fresh;
    t->is_broken = !configure(t);
    if (t->url) curl_easy_setopt(t->easy, CURLOPT_CURLU, t->url);
    t->method_set = t->version_set = t->identity = t->library_decodes = false;
    t->total_ms = t->connect_ms = t->address_age = 0;
}

void ccurl_transfer_destroy(ccurl_transfer *t) {
    ccurl_transfer_stop(t);
    curl_easy_cleanup(t->easy);
    curl_mime_free(t->parts);
    free(t->headers);
    curl_slist_free_all(t->found);
    free(t->body);
    ccurl_coding_end(t);
    free(t->head.bytes);
    free(t->answer.bytes);
    ccurl_forget_raw(t);
    free(t);
}

long ccurl_transfer_slot(const ccurl_transfer *t) { return t->slot; }
void ccurl_transfer_set_slot(ccurl_transfer *t, long slot) { t->slot = slot; }

void ccurl_transfer_set_url(ccurl_transfer *t, CURLU *url) {
    t->url = url;
    curl_easy_setopt(t->easy, CURLOPT_CURLU, url);
}

static void set_method(ccurl_transfer *t, const ccurl_sending *s) {
    CURL *e = t->easy;
    bool head = s->method == METHOD_HEAD;
    if (s->has_body && t->parts) {
        curl_easy_setopt(e, CURLOPT_MIMEPOST, t->parts);
    } else if (s->has_body) {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->body_length ? (char *)(t->lent ? t->lent : t->body) : "");
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_length);
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
    ccurl_pool **pool = s->may_share ? &(own ? own->unshared : t->loop->unshared)[reach] : &(own ? own->alone : t->loop->alone)[reach];
    if (!*pool) *pool = ccurl_pool_create(t->loop);
    return *pool;
}

bool ccurl_transfer_set_found(ccurl_transfer *t, const char *found) {
    if (!t->found && !found) return true;
    struct curl_slist *list = found ? curl_slist_append(NULL, found) : NULL;
    curl_easy_setopt(t->easy, CURLOPT_RESOLVE, list);
    curl_slist_free_all(t->found);
    t->found = list;
    return !found || list;
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
        curl_easy_setopt(e, CURLOPT_BUFFERSIZE, shares ? HTTP2_BUFFER : (long)CURL_MAX_WRITE_SIZE);
        t->version_set = true;
        t->shares_http2 = shares;
    }
    if (t->total_ms != s->total_ms) curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, t->total_ms = s->total_ms);
    if (t->connect_ms != s->connect_ms) curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, t->connect_ms = s->connect_ms);
    if (t->address_age != s->address_age) curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, t->address_age = s->address_age);
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
    const char *proxy = t->transport ? t->transport->proxy : NULL;
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
    t->changed_file = NULL;
    ccurl_transfer_await(t, NULL);
    t->wait_began = t->uploaded = t->slow_since = t->window_bytes = t->window_began = t->received = 0;
    t->has_location = t->has_wait = t->has_length = t->length_unclear = t->folding = false;
    t->opened = t->denied = t->headers_too_large = t->body_too_large = false;
    t->answering = t->resend_refused = t->out_of_descriptors = t->cut_off = t->memory_out = t->coded = false;
    t->coding_defect = CCURL_CODING_FINE;
    t->decodes = s->decodes;
    ccurl_forget_raw(t);
    t->is_done = t->looked_up = t->tls_began = t->multiplexed = t->awaits_close = t->certificate_wanted = false;
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
    t->looked_up = t->found != NULL;
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

static void shrink(ccurl_buffer *b) {
    if (b->capacity > KEEP) {
        free(b->bytes);
        *b = (ccurl_buffer){0};
    }
    b->length = 0;
}

void ccurl_transfer_clear(ccurl_transfer *t) {
    if (t->is_worn || t->is_broken) renew(t);
    shrink(&t->head);
    shrink(&t->answer);
    ccurl_coding_end(t);
    ccurl_forget_raw(t);
    // A transfer that waits for its file has no progress, and must not show the progress of the previous call.
    t->started_ns = t->uploaded = t->upload_total = t->received = t->answer_total = 0;
    t->last_file = NULL;
    t->part = NULL;
    t->sink = TO_MEMORY;
    t->body_length = 0;
    t->lent = NULL;
    t->room = INT64_MAX;
    if (t->body_capacity > KEEP) {
        free(t->body);
        t->body = NULL;
        t->body_capacity = 0;
    }
    t->has_headers = false;
    if (t->headers_capacity > KEEP) {
        free(t->headers);
        t->headers = NULL;
        t->headers_capacity = 0;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/// What a finished transfer may keep for the next one. 5,000 calls in flight leave about 20 KB each, and
/// libcurl takes 14 of them.
enum { KEEP = 2048 };

/// libcurl 7.88 takes up to 128 KiB of headers over HTTP/2. What of them its buffer does not hold it looks for on the socket, which
/// has nothing more, and sometimes hands it out before their beginning. Pages of it that nothing was written to take no memory.
static const long HTTP2_BUFFER = 128 * 1024;

static const char *const methods[] = {"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"};

/// Runs before each writing of the request, on new and on reused connections alike.
static int before_request(void *context, char *peer_ip, char *local_ip, int peer_port, int local_port) {
    (void)local_ip;
    ccurl_transfer *t = context;
    ccurl_names_read(t);
    if (t->sendings > 0) {
        if (ccurl_session_is_broken(t)) ccurl_socket_end(t);
        // They would be no smaller the next time.
        t->headers_too_large = ccurl_headers_lost(t);
        if (t->headers_too_large) return CURL_PREREQFUNC_ABORT;
    }
    t->local_port = local_port;
    t->peer_port = peer_port;
    size_t length = strnlen(peer_ip, sizeof t->remote_ip - 1);
    memcpy(t->remote_ip, peer_ip, length);
    t->remote_ip[length] = 0;
    if (t->public_only && !(t->transport && t->transport->proxy) && ccurl_address_text_is_public(peer_ip) != 1) {
        t->denied = true;
        t->opened = false;
        return CURL_PREREQFUNC_ABORT;
    }
    // libcurl sends again by itself when a reused connection turns out dead, also a POST of which bytes have
    // left. Once is right for what may be repeated or has certainly not left; a 417 answer asks for it.
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
    // The writing then fails before its first byte, and libcurl comes here once more with a new connection.
    t->multiplexed = ccurl_idle_check(t, local_port);
    // Where a host or a NAT has forgotten one open connection, it has forgotten the others: what libcurl sends again by itself goes
    // out on a new one (else 3 of 8 such calls failed, having met two of them). Over HTTP/2 all share one anyway.
    if (!t->multiplexed) curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
    return CURL_PREREQFUNC_OK;
}

/// CURLOPT_SSL_CTX_FUNCTION: TLS begins, so what lies before it is done.
static CURLcode before_tls(CURL *easy, void *context, void *transfer) {
    (void)easy;
    (void)context;
    ((ccurl_transfer *)transfer)->tls_began = true;
    return CURLE_OK;
}

/// CURLOPT_RESOLVER_START_FUNCTION: what libcurl knows of the name is too old, or nothing.
static int on_look_up(void *resolver, void *reserved, void *transfer) {
    (void)resolver;
    (void)reserved;
    ccurl_transfer *t = transfer;
    t->looked_up = true;
    ccurl_names_asked(t);
    return 0;
}

/// Counts what libcurl's own limits leave out: bytes as received, before they are decompressed.
static int on_progress(void *context, curl_off_t total, curl_off_t received, curl_off_t upload, curl_off_t uploaded) {
    ccurl_transfer *t = context;
    t->received = received;
    t->answer_total = total;
    t->upload_total = upload;
    if (uploaded != t->uploaded) {
        t->uploaded = uploaded;
        if (t->first_byte_ns) t->wait_began = ccurl_now();
    }
    // libcurl comes here once more at a transfer's end, before it lets go of the connection.
    if (t->awaits_close) ccurl_closing_look(t);
    int64_t limit = t->sink == TO_MEMORY ? t->answer_limit : t->file_limit;
    if (received > limit || (total > limit && t->method != METHOD_HEAD)) {
        t->body_too_large = true;
        return 1;
    }
    return 0;
}

/// Sets what stays as it is for all sendings; false: out of memory.
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
    // An empty name, not an absent one: else http_proxy of the environment applies.
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    // A call that ends while its name is being looked up would wait for the resolver's thread, and the loop with it: with
    // a silent name server 3.3 s at `timeout:2 attempts:2`, 10 s and more at glibc's usual ones. Now the thread is left behind.
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    // A resumed session (RFC 8446 §2.2) shows no certificate and checks none, and each gets new tickets: a certificate that has
    // expired, replaced files, or ones that are to be trusted no more, would count for as long as calls come. So each connection shakes
    // hands in full, for 0.4 ms of CPU more at either end (OpenSSL 3.0, RSA 2048), and with TLS 1.2 a round trip. For a proxy, too.
    curl_easy_setopt(e, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (loop->ca_file) {
        curl_easy_setopt(e, CURLOPT_CAINFO, loop->ca_file);
        // Debian's libcurl would trust the system's directory of authorities beside the file.
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    // Asks for them and leaves them to us.
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, loop->accept_encoding);
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, loop->user_agent);
    // Below the usual 60 and 75 seconds after which servers drop idle connections.
    curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, 55L);
    curl_easy_setopt(e, CURLOPT_MAXLIFETIME_CONN, 900L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    if (!transport) return true;
    // A SOCKS proxy answers where nobody sees it; TLS with an HTTP proxy comes before its answer.
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

/// As good as new, so that the next call does not pay for this one: libcurl 7.88 counts over all the calls of a handle
/// how often it sent again by itself, and gives up at the sixth time. Another handle, since it may keep its buffer, and a reset one
/// then has the usual buffer's size and takes no other.
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

static ccurl_pool *pool_for(ccurl_transfer *t, const ccurl_sending *s, bool shares) {
    int reach = s->public_only ? 0 : 1;
    ccurl_transport *way = t->transport;
    if (s->may_share && s->https == shares) return (way ? way->pools : t->loop->pools)[reach];
    ccurl_pool **pool = s->may_share ? &(way ? way->unshared : t->loop->unshared)[reach] : &(way ? way->alone : t->loop->alone)[reach];
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
    // Only over TLS is there HTTP/2, and a share of the connection worth waiting for: with plain HTTP a
    // slow first answer would hold up all others to that host.
    // A download waits for the disk now and then, and on HTTP/2 libcurl 7.88 would let all of the connection wait.
    bool shares = s->https && s->may_share && s->may_multiplex && !t->part;
    if (!t->version_set || t->https != shares) {
        curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)(shares ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(e, CURLOPT_PIPEWAIT, (long)shares);
        curl_easy_setopt(e, CURLOPT_BUFFERSIZE, shares ? HTTP2_BUFFER : (long)CURL_MAX_WRITE_SIZE);
        t->version_set = true;
        t->https = shares;
    }
    if (t->total_ms != s->total_ms) curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, t->total_ms = s->total_ms);
    if (t->connect_ms != s->connect_ms) curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, t->connect_ms = s->connect_ms);
    if (t->address_age != s->address_age) curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, t->address_age = s->address_age);
    // Ranges count bytes as they are sent: what has been decoded cannot be continued.
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
    ccurl_room_make(t->loop, pool);
    pool->last_use = ++t->loop->sendings;
    CURLMcode code = curl_multi_add_handle(pool->handle, e);
    if (code != CURLM_OK) return (int)code;
    t->home = pool;
    t->pool = pool->handle;
    pool->running++;
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
    // What waits for its file has no progress, and none of the call before it.
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

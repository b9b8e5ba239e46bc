// SPDX-License-Identifier: Apache-2.0
//
// libcurl's callbacks between the beginning and the end of a sending. answer.c and upload.c have those for bytes.
#include "transfer.h"

#include <cresolver.h>

int ccurl_before_request(void *context, char *peer_ip, char *local_ip, int peer_port, int local_port) {
    (void)local_ip;
    ccurl_transfer *t = context;
    ccurl_names_read(t);
    if (t->sendings > 0) {
        if (ccurl_session_is_broken(t)) ccurl_socket_end(t);
        // The headers would be as large the next time.
        t->facts.headers_too_large = ccurl_headers_lost(t);
        if (t->facts.headers_too_large) return CURL_PREREQFUNC_ABORT;
    }
    t->local_port = local_port;
    t->peer_port = peer_port;
    size_t length = strnlen(peer_ip, sizeof t->remote_ip - 1);
    memcpy(t->remote_ip, peer_ip, length);
    t->remote_ip[length] = 0;
    bool has_proxy = t->transport && t->transport->settings.proxy;
    if (t->public_only && !has_proxy && cresolver_address_text_is_public(peer_ip) != 1) {
        t->facts.denied = true;
        t->opened = false;
        return CURL_PREREQFUNC_ABORT;
    }
    // libcurl sends the request again if a reused connection turns out dead, even a POST of which bytes have left. One
    // repetition is correct if the request may be repeated or certainly has not left. A 417 answer asks for it.
    if (t->sendings > 0 && t->head_status != 417) {
        long sent = 0;
        curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
        if (t->sendings > 1 || (!t->repeatable && sent > 0)) {
            t->facts.resend_refused = true;
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

CURLcode ccurl_before_tls(CURL *easy, void *context, void *transfer) {
    (void)easy;
    (void)context;
    ((ccurl_transfer *)transfer)->facts.tls_began = true;
    return CURLE_OK;
}

int ccurl_on_look_up(void *resolver, void *reserved, void *transfer) {
    (void)resolver;
    (void)reserved;
    ccurl_transfer *t = transfer;
    t->facts.looked_up = true;
    ccurl_names_asked(t);
    return 0;
}

int ccurl_on_progress(void *context, curl_off_t total, curl_off_t received, curl_off_t upload, curl_off_t uploaded) {
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
        t->facts.body_too_large = true;
        return 1;
    }
    return 0;
}

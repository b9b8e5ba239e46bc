// SPDX-License-Identifier: Apache-2.0
//
// The facts about a transfer at its end.
#include "transfer.h"

#include <ccoding.h>

bool ccurl_headers_lost(const ccurl_transfer *t) {
    if (!t->multiplexed || t->head_total > 0) return false;
    // Headers without libcurl's first line look like HTTP/0.9 to libcurl.
    if (!ccurl_session_is_broken(t) && !strstr(t->error_text, "HTTP/0.9")) return false;
    struct curl_header *status;
    for (int i = 0; i < t->sendings; i++)
        if (curl_easy_header(t->easy, ":status", 0, CURLH_PSEUDO, i, &status) == CURLHE_OK) return true;
    return false;
}

static int64_t info_number(CURL *e, CURLINFO what) {
    curl_off_t value = 0;
    curl_easy_getinfo(e, what, &value);
    return value;
}

static long info_long(CURL *e, CURLINFO what) {
    long value = 0;
    curl_easy_getinfo(e, what, &value);
    return value;
}

ccurl_result ccurl_transfer_result(ccurl_transfer *t) {
    CURL *e = t->easy;
    ccurl_result r = t->facts;
    r.status = t->head_state == HEAD_START ? 0 : t->head_status;
    r.dns_us = info_number(e, CURLINFO_NAMELOOKUP_TIME_T);
    r.connect_us = info_number(e, CURLINFO_CONNECT_TIME_T);
    r.tls_us = info_number(e, CURLINFO_APPCONNECT_TIME_T);
    r.first_byte_us = info_number(e, CURLINFO_STARTTRANSFER_TIME_T);
    // libcurl stops its clock when it ends a transfer. A transfer that this worker cut off has no total time.
    r.total_us = t->cut_off ? (ccurl_now() - t->started_ns) / 1000 : info_number(e, CURLINFO_TOTAL_TIME_T);
    // If a POST was sent in one piece, libcurl counts the body in both numbers. `bytes_sent` then counts it twice.
    int64_t request = info_long(e, CURLINFO_REQUEST_SIZE), upload = info_number(e, CURLINFO_SIZE_UPLOAD_T);
    r.bytes_sent = request + upload;
    r.bytes_received = (int64_t)t->head_total + info_number(e, CURLINFO_SIZE_DOWNLOAD_T);
    r.http_version = info_long(e, CURLINFO_HTTP_VERSION);
    r.os_errno = info_long(e, CURLINFO_OS_ERRNO);
    r.request_began = t->sendings > 0;
    r.reused = r.request_began && info_long(e, CURLINFO_NUM_CONNECTS) == 0;
    r.answer_began = t->head_total > 0 || t->answer.length > 0;
    r.headers_whole = t->answering && t->head_state == HEAD_DONE;
    // If one address was refused, another address of the name may have been allowed.
    r.denied = t->facts.denied && !t->opened;
    r.headers_too_large = t->facts.headers_too_large || ccurl_headers_lost(t);
    // The body ended inside of an encoded stream. The received bytes become the body, or none if they are too many.
    if (!r.coding_defect && t->coding && ccoding_is_inside(t->coding)) {
        r.coding_defect = t->facts.coding_defect = CCURL_CODING_CUT;
        if (!ccurl_use_raw(t)) t->answer.length = 0;
    }
    r.close_unannounced = t->awaits_close;
    r.answer_whole = r.headers_whole && ccurl_answer_is_whole(t);
    r.stream_whole = r.headers_whole && ccurl_stream_is_whole(t);
    r.resent = t->sendings > 1;
    r.proxy_status = t->transport ? info_long(e, CURLINFO_HTTP_CONNECTCODE) : 0;
    r.remote_ip = t->remote_ip[0] ? t->remote_ip : NULL;
    r.error_text = t->error_text;
    r.headers = t->head.bytes;
    r.headers_length = t->head.length;
    r.body = t->answer.bytes;
    r.body_length = t->answer.length;
    if (t->has_location) {
        r.location = (const char *)t->head.bytes + t->location;
        r.location_length = t->location_length;
    }
    return r;
}

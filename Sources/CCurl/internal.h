// SPDX-License-Identifier: Apache-2.0
#ifndef CCURL_INTERNAL_H
#define CCURL_INTERNAL_H

#include "ccurl.h"

#include <sys/socket.h>

typedef struct {
    CURLM *handle;
    ccurl_loop *loop;
    /// When libcurl wants to be called; -1: not at all.
    int64_t deadline;
    uint8_t index;
} ccurl_pool;

/// One entry per descriptor number: what the owner knows and what libcurl wants.
typedef struct {
    uint8_t wanted;
    uint8_t applied;
    uint8_t pool;
    /// Opened by `ccurl_socket_open` and not yet closed: while that holds, the number means the same socket.
    bool open;
    /// Closed, or of unknown fate, since the last drain.
    bool closed;
    bool listed;
} ccurl_descriptor;

struct ccurl_loop {
    ccurl_pool pools[2];
    ccurl_descriptor *descriptors;
    int descriptor_capacity;
    int *dirty;
    int dirty_count, dirty_capacity, dirty_next;
    char *user_agent;
    char *accept_encoding;
    char *ca_file;
};

typedef struct {
    uint8_t *bytes;
    size_t length, capacity;
} ccurl_buffer;

enum { HEAD_START, HEAD_LINES, HEAD_DONE };

/// Where the body goes: for a download, nowhere until the owner has seen the headers.
enum { TO_MEMORY, UNDECIDED, TO_PART };

struct ccurl_transfer {
    CURL *easy;
    ccurl_loop *loop;
    long slot;
    CURLM *pool;
    // What the handle is set to, so that the next sending sets only what differs.
    CURLU *url;
    int method;
    bool method_set, method_has_body, has_headers, https, version_set;
    long total_ms, connect_ms;
    // The request.
    uint8_t *body;
    size_t body_length, body_capacity;
    struct curl_slist *headers;
    size_t headers_capacity;
    bool public_only, repeatable;
    int sendings;
    int64_t started_ns;
    int64_t first_byte_ns, low_speed_bytes, low_speed_ns;
    // Progress, for the pace check.
    int64_t wait_began, uploaded, slow_since, window_bytes, window_began;
    int64_t received;
    // The answer.
    ccurl_buffer head, answer;
    int64_t answer_limit;
    // A download. Its bytes so far, those of earlier attempts included.
    ccurl_part *part;
    int sink;
    bool paused, identity;
    int64_t filed, file_limit;
    size_t head_total;
    int head_state;
    int head_status;
    size_t retry_after, retry_after_length, location, location_length;
    bool folding, has_retry_after, has_location;
    // Evidence.
    bool opened, denied, headers_too_large, body_too_large, resend_refused, out_of_descriptors, cut_off;
    char remote_ip[64];
    char error_text[CURL_ERROR_SIZE];
};

curl_socket_t ccurl_socket_open(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ccurl_socket_close(void *loop, curl_socket_t fd);
size_t ccurl_on_header(char *bytes, size_t size, size_t count, void *transfer);
/// The body of a download: paused, copied into the part's ring, or refused.
size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length);
size_t ccurl_on_body(char *bytes, size_t size, size_t count, void *transfer);
bool ccurl_buffer_reserve(ccurl_buffer *b, size_t more);

#endif

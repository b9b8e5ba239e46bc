// SPDX-License-Identifier: Apache-2.0
//
// One call: its request, its sendings and its answer.
#ifndef CCURL_TRANSFER_H
#define CCURL_TRANSFER_H

#include "ccurl.h"

#include <cfiles.h>

/// The defect of the answer's Content-Encoding.
typedef enum {
    CCURL_CODING_FINE,
    /// The body ended inside a stream.
    CCURL_CODING_CUT,
    CCURL_CODING_BROKEN,
    /// An encoding was not requested, or too many are nested.
    CCURL_CODING_UNKNOWN,
    /// A Transfer-Encoding is not chunked, gzip or deflate.
    CCURL_CODING_UNKNOWN_TRANSFER,
} ccurl_coding_defect;

/// The facts about a transfer after its end or abort. Times are microseconds since it began.
typedef struct {
    long status;
    int64_t dns_us, connect_us, tls_us, first_byte_us, total_us;
    int64_t bytes_sent, bytes_received;
    const char *_Nullable remote_ip;
    const char *_Nonnull error_text;
    long http_version;
    long os_errno;
    /// It used an open connection.
    bool reused;
    /// libcurl was about to write the request on an open connection at least once.
    bool request_began;
    /// A byte of a header or body arrived.
    bool answer_began;
    /// All header lines of a final answer have arrived. Its body may be incomplete.
    bool headers_whole;
    /// The address rules have refused all addresses.
    bool denied;
    bool headers_too_large;
    bool body_too_large;
    ccurl_coding_defect coding_defect;
    /// The memory for the answer could not be allocated.
    bool memory_out;
    /// The answer has two different Content-Lengths, or one that is not a number of at most 18 digits.
    bool length_unclear;
    /// The end of the TLS connection ends the answer, and no close_notify has arrived.
    bool close_unannounced;
    /// The answer is complete by its headers, whether or not the request is.
    bool answer_whole;
    /// HTTP/2: the whole answer has arrived, and no error of its stream is known.
    bool stream_whole;
    /// Another sending was necessary and was refused: bytes of the first one had left, or it was the third.
    bool resend_refused;
    /// The request was sent twice.
    bool resent;
    /// The server asked for a client certificate.
    bool certificate_wanted;
    /// The file part that changed while it was sent; null: none.
    const char *_Nullable changed_file;
    /// The status of the proxy's answer to CONNECT; 0: none.
    long proxy_status;
    /// TLS with the server has begun behind a SOCKS proxy.
    bool tls_began;
    /// A name was looked up for it. False if the address came from the cache.
    bool looked_up;
    /// `socket(2)` failed for lack of descriptors.
    bool out_of_descriptors;
    /// The answer's Location, without a NUL; null if absent.
    const char *_Nullable location;
    size_t location_length;
    /// A header has a name like Retry-After, so the server may ask for a wait.
    bool has_wait;
    const uint8_t *_Nullable headers;
    size_t headers_length;
    const uint8_t *_Nullable body;
    size_t body_length;
} ccurl_result;

/// The parameters of one sending: one request by `ccurl_transfer_start`. A redirect starts another sending.
typedef struct {
    /// 0 GET, 1 POST, 2 HEAD, 3 PUT, 4 DELETE, 5 PATCH, 6 OPTIONS.
    int method;
    bool public_only;
    /// Whether it may be sent a second time on a new connection if a reused one ended before it answered.
    bool repeatable;
    bool has_body;
    bool https;
    /// Whether it may use an open connection, over TLS one of HTTP/2, and leave it open. If not, it has its own.
    bool may_share;
    /// Whether the host was called lately, so that its connection is worth keeping.
    bool host_is_known;
    /// Whether it may share an HTTP/2 connection. A wait of its answer for memory would stop all calls on it.
    bool may_multiplex;
    /// Whether Content-Encoding is decoded. If false, the body is kept as received.
    bool decodes;
    /// Whether the call requests encodings that only libcurl can decode.
    bool library_decodes;
    long total_ms;
    long connect_ms;
    /// The highest age of a cached address in seconds, at most CCURL_ADDRESS_AGE.
    long address_age;
    int64_t first_byte_ms;
    int64_t low_speed_bytes;
    int64_t low_speed_ms;
    int64_t max_response_bytes;
} ccurl_sending;

// MARK: request (request.c)

/// One part of a multipart body. Strings end with NUL. Strings and bytes are copied.
typedef struct {
    const char *_Nonnull name;
    const char *_Nullable filename;
    const char *_Nullable type;
    /// An open file, which must exist while the transfer runs; null: the bytes are sent.
    cfiles_file *_Nullable file;
    const uint8_t *_Nullable bytes;
    size_t length;
} ccurl_form_part;

/// Copies the request body for all sendings until `ccurl_transfer_clear`. False without memory.
bool ccurl_transfer_set_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// Sets the request body without a copy. The bytes must stay unchanged until `ccurl_transfer_clear`.
void ccurl_transfer_lend_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// Sets the request body in gzip, at most 4 GiB.
bool ccurl_transfer_set_gzip_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// Adds a part. A transfer with parts has no other body, and serves one call only.
bool ccurl_transfer_add_part(ccurl_transfer *_Nonnull t, const ccurl_form_part *_Nonnull part);
/// Copies `count` consecutive header lines. Each ends with NUL.
bool ccurl_transfer_set_headers(ccurl_transfer *_Nonnull t, const char *_Nullable lines, size_t length, size_t count);
/// Turns the cookie engine on permanently, with only these lines. Each ends with NUL. It then serves one call only.
bool ccurl_transfer_set_cookies(ccurl_transfer *_Nonnull t, const char *_Nullable lines, size_t count);
/// Sets a value of the Cookie header in addition to the jar's cookies; null: none.
bool ccurl_transfer_set_own_cookies(ccurl_transfer *_Nonnull t, const char *_Nullable value);
/// The lines of the jar. Free them with `curl_slist_free_all`.
struct curl_slist *_Nullable ccurl_transfer_cookies(ccurl_transfer *_Nonnull t);

// MARK: transfer (transfer.c)

/// `transport` is null for default settings, and must outlive the transfer.
ccurl_transfer *_Nullable ccurl_transfer_create(ccurl_loop *_Nonnull loop, ccurl_transport *_Nullable transport);
/// Aborts it if it runs.
void ccurl_transfer_destroy(ccurl_transfer *_Nonnull t);
long ccurl_transfer_slot(const ccurl_transfer *_Nonnull t);
void ccurl_transfer_set_slot(ccurl_transfer *_Nonnull t, long slot);
/// Sets the URL of all sendings from now on. The transfer does not own it, and the URL must outlive them.
void ccurl_transfer_set_url(ccurl_transfer *_Nonnull t, CURLU *_Nonnull url);
/// Sets the host's address for the next sending, as in CURLOPT_RESOLVE; null: look it up. Copied. False: no memory.
bool ccurl_transfer_set_found(ccurl_transfer *_Nonnull t, const char *_Nullable found);
/// Sets changed options and adds the handle to its pool. Returns 0 or a CURLMcode/CURLcode.
int ccurl_transfer_start(ccurl_transfer *_Nonnull t, const ccurl_sending *_Nonnull s);
/// The file whose next bytes it waits for; null: none.
cfiles_file *_Nullable ccurl_transfer_awaited(const ccurl_transfer *_Nonnull t);
/// The first transfer that waits for a file, and the next after it; null: none. A transfer leaves when it goes on.
ccurl_transfer *_Nullable ccurl_loop_awaiting(const ccurl_loop *_Nonnull loop);
ccurl_transfer *_Nullable ccurl_transfer_next_awaiting(const ccurl_transfer *_Nonnull t);
/// Whether the headers of a final answer have arrived. True once per answer.
bool ccurl_transfer_take_answered(ccurl_transfer *_Nonnull t);
/// Continues sending. It waits again if the body has no bytes yet. Returns 0 or a CURLcode.
int ccurl_transfer_send_on(ccurl_transfer *_Nonnull t);
/// Removes the handle from its pool, in any state.
void ccurl_transfer_stop(ccurl_transfer *_Nonnull t);
/// The facts about the transfer. Its pointers are valid until the next change of the transfer.
ccurl_result ccurl_transfer_result(ccurl_transfer *_Nonnull t);
/// Drops request and answer, and frees large buffers.
void ccurl_transfer_clear(ccurl_transfer *_Nonnull t);

/// Sets how many bytes of its answer it may keep. By default all, until `ccurl_transfer_clear`.
void ccurl_transfer_set_room(ccurl_transfer *_Nonnull t, int64_t bytes);
/// The first transfer that is paused for lack of room, and the next one after it; null: none.
ccurl_transfer *_Nullable ccurl_loop_wanting(const ccurl_loop *_Nonnull loop);
ccurl_transfer *_Nullable ccurl_transfer_next_wanting(const ccurl_transfer *_Nonnull t);
/// Since when it waits, and how many bytes its answer has in all or may have.
int64_t ccurl_transfer_room_since(const ccurl_transfer *_Nonnull t);
int64_t ccurl_transfer_wanted(const ccurl_transfer *_Nonnull t);
/// Continues with so much room, and may wait again. Returns 0 or the CURLcode of its end, like `ccurl_transfer_resume`.
int ccurl_transfer_give_room(ccurl_transfer *_Nonnull t, int64_t bytes);
/// Copies the body, whose length is in the result, and frees it piece by piece. The result's `body` is void then. `out`
/// may be null for an empty body.
void ccurl_transfer_take_body(ccurl_transfer *_Nonnull t, uint8_t *_Nullable out);

typedef enum {
    CCURL_ON_TIME,
    CCURL_FIRST_BYTE_LATE,
    CCURL_TOO_SLOW,
    /// Its connect limit has passed without a connection, or its total limit has passed.
    CCURL_OVERDUE,
} ccurl_pace;
/// Checks the limits that libcurl does not enforce. `next` becomes the time of the next check if that is earlier.
ccurl_pace ccurl_transfer_check_pace(ccurl_transfer *_Nonnull t, int64_t now, int64_t *_Nonnull next);

/// The phase of a transfer.
typedef enum {
    /// It waits for a connection.
    CCURL_PHASE_CONNECTION,
    CCURL_PHASE_DNS,
    CCURL_PHASE_CONNECT,
    /// The TLS handshake. With an HTTP proxy, the proxy's answer comes first.
    CCURL_PHASE_TLS,
    CCURL_PHASE_SEND,
    CCURL_PHASE_FIRST_BYTE,
    CCURL_PHASE_RECEIVE,
    /// Its answer waits for room.
    CCURL_PHASE_ROOM,
    /// It waits for the next bytes of a file that it sends.
    CCURL_PHASE_FILE,
} ccurl_phase;

/// The progress of a transfer. Totals are 0 while they are unknown.
typedef struct {
    int64_t sent, send_total, received, receive_total;
    ccurl_phase phase;
    /// When the phase began, and when a limit ends the transfer if it makes no progress; CLOCK_MONOTONIC, 0: no limit.
    int64_t phase_ns, deadline_ns;
} ccurl_progress;
ccurl_progress ccurl_transfer_progress(const ccurl_transfer *_Nonnull t);

// MARK: downloads (download.c)

/// Makes all sendings until `ccurl_transfer_clear` pause when a body begins, until `ccurl_transfer_keep_body` or
/// `_file_body`. They take the body as it is sent, in any encoding.
void ccurl_transfer_set_part(ccurl_transfer *_Nonnull t, cfiles_part *_Nonnull part);
/// Whether it waits for its owner, or for room in the part's ring.
bool ccurl_transfer_is_paused(const ccurl_transfer *_Nonnull t);
/// Keeps the body in memory.
void ccurl_transfer_keep_body(ccurl_transfer *_Nonnull t);
/// Sends the body to the part, from byte `offset` on. A file of more than `limit` bytes is too large.
void ccurl_transfer_file_body(ccurl_transfer *_Nonnull t, int64_t offset, int64_t limit);
/// The size of the file with all bytes that have arrived.
int64_t ccurl_transfer_filed(const ccurl_transfer *_Nonnull t);
/// Continues after a pause. It may be paused again at once.
///
/// Returns 0, or the CURLcode with which the call ends: libcurl delivers the bytes that it kept, and does not report
/// the failure again.
int ccurl_transfer_resume(ccurl_transfer *_Nonnull t);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// The C half of HTTPAgent. libcurl's callbacks live here, append to buffers and lists that C owns, and
// Swift drains those afterwards: no Swift code ever runs inside a callback. A `ccurl_loop` holds two
// connection pools that never mix (one for public addresses only, one for all) and the list of socket
// changes for the owner's epoll; a `ccurl_transport` is another way to the server with pools of its own; a
// `ccurl_transfer` is one pooled easy handle with its buffers.
// Everything here belongs to one thread.
#ifndef CCURL_H
#define CCURL_H

#include "ccurl_disk.h"
#include "ccurl_files.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

_Static_assert(LIBCURL_VERSION_NUM >= 0x075500, "libcurl 7.85 or newer is needed (CURLOPT_PROTOCOLS_STR)");

typedef struct ccurl_loop ccurl_loop;
typedef struct ccurl_transfer ccurl_transfer;
typedef struct ccurl_transport ccurl_transport;
typedef struct ccurl_file ccurl_file;

/// What the owner shall wait for on `fd`; neither flag set: stop waiting.
typedef struct {
    int fd;
    bool read;
    bool write;
} ccurl_socket_change;

/// Options that never change during the life of a loop. Strings are copied.
typedef struct {
    long max_connections;
    /// From so many descriptors of connections on, idle connections of all pools are given up.
    int most_held;
    const char *_Nonnull user_agent;
    const char *_Nonnull accept_encoding;
    const char *_Nullable ca_file;
} ccurl_settings;

/// How long libcurl keeps the addresses of a name, in seconds.
#define CCURL_ADDRESS_AGE 60L

/// What is wrong with the answer's Content-Encoding.
typedef enum {
    CCURL_CODING_FINE,
    /// It ended inside a stream.
    CCURL_CODING_CUT,
    CCURL_CODING_BROKEN,
    /// It is none that was asked for.
    CCURL_CODING_UNKNOWN,
    /// There is a Transfer-Encoding beside chunked, and it is none that is known.
    CCURL_CODING_UNKNOWN_TRANSFER,
} ccurl_coding_defect;

/// All that is known about a transfer once it ended or was cut off. Times are microseconds since it began.
typedef struct {
    long status;
    int64_t dns_us, connect_us, tls_us, first_byte_us, total_us;
    int64_t bytes_sent, bytes_received;
    const char *_Nullable remote_ip;
    const char *_Nonnull error_text;
    long http_version;
    long os_errno;
    /// An open connection was used.
    bool reused;
    /// libcurl was about to write the request, on a connection that is up, at least once.
    bool request_began;
    /// A byte of a header or body arrived.
    bool answer_began;
    /// All header lines of a final answer are there; its body may not be.
    bool headers_whole;
    /// Every address was refused by the address rules.
    bool denied;
    bool headers_too_large;
    bool body_too_large;
    ccurl_coding_defect coding_defect;
    /// There was no memory to take the answer.
    bool memory_out;
    /// The answer has two Content-Lengths that are not the same, or one that is no number of at most 18 digits.
    bool length_unclear;
    /// The answer ends with its TLS connection, and no close_notify has come.
    bool close_unannounced;
    /// The answer has come to the end that its headers tell, whether or not the request has come to its own.
    bool answer_whole;
    /// Of HTTP/2: all of the answer has come, and nothing says that its stream ended for an error.
    bool stream_whole;
    /// Another sending would have been needed and was refused: bytes of the first had left, or it was the third.
    bool resend_refused;
    /// The request was sent twice.
    bool resent;
    /// The server asked for a client certificate.
    bool certificate_wanted;
    /// The file part that changed while it was being sent; null: none did.
    const char *_Nullable changed_file;
    /// What the proxy answered to CONNECT; 0: nothing.
    long proxy_status;
    /// Behind a SOCKS proxy: TLS with the server has begun.
    bool tls_began;
    /// A name was looked up for it, and not only found among those that were.
    bool looked_up;
    /// `socket(2)` failed: out of descriptors.
    bool out_of_descriptors;
    /// The answer's Location; not terminated, null if absent.
    const char *_Nullable location;
    size_t location_length;
    /// Some header may name a wait, by its name.
    bool has_wait;
    const uint8_t *_Nullable headers;
    size_t headers_length;
    const uint8_t *_Nullable body;
    size_t body_length;
} ccurl_result;

/// What one sending needs; see `ccurl_transfer_start`.
typedef struct {
    /// 0 GET, 1 POST, 2 HEAD, 3 PUT, 4 DELETE, 5 PATCH, 6 OPTIONS.
    int method;
    bool public_only;
    /// May be sent a second time on a fresh connection if a reused one died before it answered.
    bool repeatable;
    bool has_body;
    bool https;
    /// It may go over a connection that is open, over TLS one of HTTP/2, and leave it open. Else it has one of its own.
    bool may_share;
    /// The host was called lately: its connection is worth keeping.
    bool host_is_known;
    /// It may share a connection of HTTP/2. Its answer cannot wait for room there: that would stop the others of the connection.
    bool may_multiplex;
    /// Content-Encoding is undone; otherwise the body is kept as received.
    bool decodes;
    /// The call asks for encodings that only libcurl can undo.
    bool library_decodes;
    long total_ms;
    long connect_ms;
    /// How old an address may be that a name was found at, in seconds: CCURL_ADDRESS_AGE at most.
    long address_age;
    int64_t first_byte_ms;
    int64_t low_speed_bytes;
    int64_t low_speed_ms;
    int64_t max_response_bytes;
} ccurl_sending;

// MARK: loop (loop.c)

/// curl_global_init and SIGPIPE ignored; 0 or a CURLcode.
int ccurl_global_start(void);
unsigned ccurl_version_number(void);
const char *_Nonnull ccurl_version_text(void);
bool ccurl_has_feature(unsigned bit);

ccurl_loop *_Nullable ccurl_loop_create(const ccurl_settings *_Nonnull settings);
/// All transfers must have been destroyed before.
void ccurl_loop_destroy(ccurl_loop *_Nonnull loop);
/// Writes at most `capacity` changes and returns how many; call until it returns 0. `capacity` is at least 2.
int ccurl_loop_take_changes(ccurl_loop *_Nonnull loop, ccurl_socket_change *_Nonnull out, int capacity);
/// CLOCK_MONOTONIC nanoseconds at which libcurl wants `ccurl_loop_expire`; -1: never.
int64_t ccurl_loop_deadline(const ccurl_loop *_Nonnull loop);
void ccurl_loop_socket_ready(ccurl_loop *_Nonnull loop, int fd, bool readable, bool writable);
void ccurl_loop_expire(ccurl_loop *_Nonnull loop, int64_t now);
/// The next transfer that ended, taken out of its pool, or null. `code` is a CURLcode.
ccurl_transfer *_Nullable ccurl_loop_next_done(ccurl_loop *_Nonnull loop, int *_Nonnull code);
/// While it is short of descriptors, idle connections are given up as soon as they can be.
void ccurl_loop_set_short(ccurl_loop *_Nonnull loop, bool is_short);
/// Descriptors of connections, idle or in use, and of their pools.
int ccurl_loop_held(const ccurl_loop *_Nonnull loop);
/// Whether the process could open hardly another descriptor at this moment.
bool ccurl_is_short_of_descriptors(void);
/// CLOCK_MONOTONIC in nanoseconds.
int64_t ccurl_now(void);
/// Seconds since 1970, for dates in answers.
int64_t ccurl_wall_seconds(void);

// MARK: transport (transport.c)

/// How the handles of a transport are set; null: left out. Strings are copied.
typedef struct {
    /// `scheme://host:port`, without user and password.
    const char *_Nullable proxy;
    const char *_Nullable proxy_user;
    const char *_Nullable proxy_password;
    /// As CURLOPT_INTERFACE takes it.
    const char *_Nullable interface;
    const char *_Nullable ca_file;
    const char *_Nullable certificate_file;
    const char *_Nullable key_file;
    /// As CURLOPT_PINNEDPUBLICKEY takes them.
    const char *_Nullable pins;
} ccurl_transport_settings;

/// Null if memory is out, or with too many of them (some hundred).
ccurl_transport *_Nullable ccurl_transport_create(ccurl_loop *_Nonnull loop, const ccurl_transport_settings *_Nonnull s);
/// Its transfers must have been destroyed before, and it before its loop.
void ccurl_transport_destroy(ccurl_transport *_Nonnull t);

// MARK: request (request.c)

/// One part of a multipart body; strings end with NUL and are copied, like the bytes.
typedef struct {
    const char *_Nonnull name;
    const char *_Nullable filename;
    const char *_Nullable type;
    /// Open, and there for as long as the transfer runs; null: the bytes count.
    ccurl_file *_Nullable file;
    const uint8_t *_Nullable bytes;
    size_t length;
} ccurl_form_part;

/// Copies the request body; stays for all sendings until `ccurl_transfer_clear`. False: out of memory.
bool ccurl_transfer_set_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// The same without a copy: the bytes stay where they are until `ccurl_transfer_clear`.
void ccurl_transfer_lend_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// The same in gzip, at most 4 GiB.
bool ccurl_transfer_set_gzip_body(ccurl_transfer *_Nonnull t, const uint8_t *_Nullable bytes, size_t length);
/// Adds a part; a transfer with parts sends them and nothing else, and is good for one call only.
bool ccurl_transfer_add_part(ccurl_transfer *_Nonnull t, const ccurl_form_part *_Nonnull part);
/// Copies `count` header lines that stand one behind the other, each ended by NUL.
bool ccurl_transfer_set_headers(ccurl_transfer *_Nonnull t, const char *_Nullable lines, size_t length, size_t count);
/// Switches the cookie engine on, for good, with a jar of these lines alone, each ended by NUL: such a transfer is
/// good for one call only.
bool ccurl_transfer_set_cookies(ccurl_transfer *_Nonnull t, const char *_Nullable lines, size_t count);
/// What goes into the Cookie header beside the jar's; null: nothing.
bool ccurl_transfer_set_own_cookies(ccurl_transfer *_Nonnull t, const char *_Nullable value);
/// The jar, a line each; free it with `curl_slist_free_all`.
struct curl_slist *_Nullable ccurl_transfer_cookies(ccurl_transfer *_Nonnull t);

// MARK: transfer (transfer.c)

/// `transport` is null for the plain way, and must outlive the transfer.
ccurl_transfer *_Nullable ccurl_transfer_create(ccurl_loop *_Nonnull loop, ccurl_transport *_Nullable transport);
/// Aborts it if it runs.
void ccurl_transfer_destroy(ccurl_transfer *_Nonnull t);
long ccurl_transfer_slot(const ccurl_transfer *_Nonnull t);
void ccurl_transfer_set_slot(ccurl_transfer *_Nonnull t, long slot);
/// Takes a URL for all sendings from now on; the transfer does not own it, it must outlive them.
void ccurl_transfer_set_url(ccurl_transfer *_Nonnull t, CURLU *_Nonnull url);
/// Where the next sending finds its host, as an entry of CURLOPT_RESOLVE; null: libcurl looks it up if it has to. Copied. False: out of
/// memory.
bool ccurl_transfer_set_found(ccurl_transfer *_Nonnull t, const char *_Nullable found);
/// Sets what differs from the last sending and adds the handle to its pool; 0 or a CURLMcode/CURLcode.
int ccurl_transfer_start(ccurl_transfer *_Nonnull t, const ccurl_sending *_Nonnull s);
/// The file whose next bytes are not there yet, for which it waits; null: none.
ccurl_file *_Nullable ccurl_transfer_awaited(const ccurl_transfer *_Nonnull t);
/// One of the transfers that wait so, and another one behind it; null: no more. What goes on sending or stops is no longer among them.
ccurl_transfer *_Nullable ccurl_loop_awaiting(const ccurl_loop *_Nonnull loop);
ccurl_transfer *_Nullable ccurl_transfer_next_awaiting(const ccurl_transfer *_Nonnull t);
/// Whether the headers of a final answer are there; says so once for each.
bool ccurl_transfer_is_answered(ccurl_transfer *_Nonnull t);
/// Goes on sending, and waits again where the body is still wanted and not there; 0 or a CURLcode.
int ccurl_transfer_send_on(ccurl_transfer *_Nonnull t);
/// Takes the handle out of its pool, whatever state it is in.
void ccurl_transfer_stop(ccurl_transfer *_Nonnull t);
/// Its pointers hold until the next change of the transfer.
ccurl_result ccurl_transfer_result(ccurl_transfer *_Nonnull t);
/// Forgets request and answer and gives large buffers back.
void ccurl_transfer_clear(ccurl_transfer *_Nonnull t);

/// How many bytes of its answer it may keep; without a word of it, all until `ccurl_transfer_clear`.
void ccurl_transfer_set_room(ccurl_transfer *_Nonnull t, int64_t bytes);
/// One of the transfers that wait for more room, paused, and another one behind it; null: no more.
ccurl_transfer *_Nullable ccurl_loop_wanting(const ccurl_loop *_Nonnull loop);
ccurl_transfer *_Nullable ccurl_transfer_next_wanting(const ccurl_transfer *_Nonnull t);
/// Since when it waits, and how many bytes its answer has in all or may have.
int64_t ccurl_transfer_room_since(const ccurl_transfer *_Nonnull t);
int64_t ccurl_transfer_wanted(const ccurl_transfer *_Nonnull t);
/// Goes on with so much room; it may wait for more at once. As `ccurl_transfer_resume`: 0, or the CURLcode with which it is at its end.
int ccurl_transfer_give_room(ccurl_transfer *_Nonnull t, int64_t bytes);
/// Copies the answer's body, whose length is in the result, and gives its memory back piece by piece. Then the result's `body` is void.
void ccurl_transfer_take_body(ccurl_transfer *_Nonnull t, uint8_t *_Nonnull out);

typedef enum {
    CCURL_ON_TIME,
    CCURL_FIRST_BYTE_LATE,
    CCURL_TOO_SLOW,
    /// Beyond its connect limit without a connection, or beyond its total limit.
    CCURL_OVERDUE,
} ccurl_pace;
/// Checks the limits that libcurl does not keep for us; `next` becomes the earlier of itself and the time of the next check.
ccurl_pace ccurl_transfer_check_pace(ccurl_transfer *_Nonnull t, int64_t now, int64_t *_Nonnull next);

/// The part of a call that a transfer is in.
typedef enum {
    /// It waits until it may use or open a connection.
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

/// How far a transfer is; totals are 0 while they are unknown.
typedef struct {
    int64_t sent, send_total, received, receive_total;
    ccurl_phase phase;
    /// When the phase began, and when a limit ends the transfer unless it gets on; CLOCK_MONOTONIC, 0: no limit.
    int64_t phase_ns, deadline_ns;
} ccurl_progress;
ccurl_progress ccurl_transfer_progress(const ccurl_transfer *_Nonnull t);

// MARK: downloads (download.c)

/// All sendings until `ccurl_transfer_clear` wait, once a body begins, for `ccurl_transfer_keep_body` or `_file_body`, and
/// take the body as it is sent, in whatever encoding.
void ccurl_transfer_set_part(ccurl_transfer *_Nonnull t, ccurl_part *_Nonnull part);
/// It waits for its owner, or for room in the part's ring.
bool ccurl_transfer_is_paused(const ccurl_transfer *_Nonnull t);
/// The body is an ordinary one.
void ccurl_transfer_keep_body(ccurl_transfer *_Nonnull t);
/// The body goes to the part, as its bytes from `offset` on; a file of more than `limit` bytes is too large.
void ccurl_transfer_file_body(ccurl_transfer *_Nonnull t, int64_t offset, int64_t limit);
/// How long the file is with all that has arrived.
int64_t ccurl_transfer_filed(const ccurl_transfer *_Nonnull t);
/// Goes on after a pause; it may be paused again at once. 0, or the CURLcode with which the call is at its end:
/// libcurl hands over what it kept here and does not come back to a failure.
int ccurl_transfer_resume(ccurl_transfer *_Nonnull t);

// MARK: look-ups of names (lookup.c)

/// How long a call waits for the answer: 100 ms. Then libcurl looks the name up.
#define CCURL_LOOKUP_NS 100000000L

typedef struct ccurl_lookups ccurl_lookups;
/// Threads start with the first question, and end after some seconds without one. Null: out of memory or descriptors.
ccurl_lookups *_Nullable ccurl_lookups_create(void);
/// Never waits: a thread that still waits for a name server ends later.
void ccurl_lookups_destroy(ccurl_lookups *_Nonnull lookups);
/// Readable when there are answers.
int ccurl_lookups_descriptor(const ccurl_lookups *_Nonnull lookups);
/// Begins to look a name up; false: not now, the name server is slow.
bool ccurl_lookups_ask(ccurl_lookups *_Nonnull lookups, uint64_t ticket, const char *_Nonnull host, int port);
/// Makes the descriptor unreadable until the next answer, and collects the answers for `ccurl_lookups_next`.
void ccurl_lookups_drain(ccurl_lookups *_Nonnull lookups);
/// Hands out the next answer. Returns false if no answer is left. `entry` holds the addresses in the form of CURLOPT_RESOLVE. It is valid
/// until the next call. It is null if the name was not found, or if an address cannot be written as text.
bool ccurl_lookups_next(
    ccurl_lookups *_Nonnull lookups, uint64_t *_Nonnull ticket, const char *_Nullable *_Nonnull entry);

// MARK: addresses (address.c)

/// Whether an IPv4 (4 bytes) or IPv6 (16 bytes) address in network order may be called by a public-only call.
bool ccurl_address_is_public(const uint8_t *_Nonnull bytes, size_t length);
/// The same for text as inet_pton takes it; -1 if it is no address.
int ccurl_address_text_is_public(const char *_Nonnull text);
/// Whether this is the address that libcurl calls `host`, which leaves out the scope of a link-local one (`fe80::1%eth0`).
bool ccurl_address_is(
    const struct sockaddr_storage *_Nonnull address, socklen_t length, const char *_Nonnull host, int port);

#endif

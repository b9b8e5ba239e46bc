// SPDX-License-Identifier: Apache-2.0
//
// The C half of HTTPAgent: the library and its connections. ccurl_transfer.h has the transfers. libcurl's callbacks are
// here. They append to buffers and lists of C, which Swift reads afterwards, so no Swift code runs inside a callback.
//
// A `ccurl_loop` has two connection pools that are never mixed, one for public addresses only and one for all, and the
// list of socket changes for the owner's epoll. A `ccurl_transport` has other connection settings and its own pools. A
// `ccurl_transfer` is one pooled easy handle with its buffers. All of them belong to one thread.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(LIBCURL_VERSION_NUM >= 0x075500, "libcurl 7.85 or newer is needed (CURLOPT_PROTOCOLS_STR)");

typedef struct ccurl_loop ccurl_loop;
typedef struct ccurl_transfer ccurl_transfer;
typedef struct ccurl_transport ccurl_transport;

/// The events that the owner must wait for on `fd`. If neither flag is set, it stops waiting.
typedef struct {
    int fd;
    bool read;
    bool write;
} ccurl_socket_change;

/// Options that never change during the life of a loop. Strings are copied.
typedef struct {
    long max_connections;
    /// From so many descriptors of connections on, idle connections of all pools are closed.
    int most_held;
    const char *_Nonnull user_agent;
    const char *_Nonnull accept_encoding;
    const char *_Nullable ca_file;
} ccurl_settings;

/// How long libcurl keeps the addresses of a name, in seconds.
#define CCURL_ADDRESS_AGE 60L

// MARK: library (library.c)

/// Calls curl_global_init and ignores SIGPIPE. Returns 0 or a CURLcode.
int ccurl_global_start(void);
unsigned ccurl_version_number(void);
const char *_Nonnull ccurl_version_text(void);
bool ccurl_has_feature(unsigned bit);
/// Returns the pages of unused buffers to the system (buffers.c). A later call touches them anew.
void ccurl_return_memory(void);
/// CLOCK_MONOTONIC in nanoseconds.
int64_t ccurl_now(void);
/// The seconds since 1970, for dates in answers.
int64_t ccurl_wall_seconds(void);

// MARK: loop (loop.c)

ccurl_loop *_Nullable ccurl_loop_create(const ccurl_settings *_Nonnull settings);
/// All transfers must be destroyed before.
void ccurl_loop_destroy(ccurl_loop *_Nonnull loop);
/// Writes at most `capacity` changes and returns their number. Call it until it returns 0. `capacity` is at least 2.
int ccurl_loop_take_changes(ccurl_loop *_Nonnull loop, ccurl_socket_change *_Nonnull out, int capacity);
/// The time in CLOCK_MONOTONIC nanoseconds at which `ccurl_loop_expire` is due; -1: never.
int64_t ccurl_loop_deadline(const ccurl_loop *_Nonnull loop);
void ccurl_loop_socket_ready(ccurl_loop *_Nonnull loop, int fd, bool readable, bool writable);
void ccurl_loop_expire(ccurl_loop *_Nonnull loop, int64_t now);
/// The next transfer that ended, removed from its pool; null: none. `code` is a CURLcode.
ccurl_transfer *_Nullable ccurl_loop_next_done(ccurl_loop *_Nonnull loop, int *_Nonnull code);
/// While the loop is short of descriptors, idle connections are closed as soon as possible.
void ccurl_loop_set_short(ccurl_loop *_Nonnull loop, bool is_short);
/// The descriptors of connections, idle or in use, and of their pools.
int ccurl_loop_held(const ccurl_loop *_Nonnull loop);

// MARK: transport (transport.c)

/// The settings of a transport's handles; null: default. Strings are copied.
typedef struct {
    /// `scheme://host:port`, without user and password.
    const char *_Nullable proxy;
    const char *_Nullable proxy_user;
    const char *_Nullable proxy_password;
    /// The value of CURLOPT_INTERFACE.
    const char *_Nullable interface;
    const char *_Nullable ca_file;
    const char *_Nullable certificate_file;
    const char *_Nullable key_file;
    /// The value of CURLOPT_PINNEDPUBLICKEY.
    const char *_Nullable pins;
} ccurl_transport_settings;

/// Null without memory, or if there are too many transports (256).
ccurl_transport *_Nullable ccurl_transport_create(
    ccurl_loop *_Nonnull loop, const ccurl_transport_settings *_Nonnull s);
/// Its transfers must be destroyed before it, and it before its loop.
void ccurl_transport_destroy(ccurl_transport *_Nonnull t);

#endif

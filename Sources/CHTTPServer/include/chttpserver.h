// SPDX-License-Identifier: Apache-2.0
// The part of libmicrohttpd for pages: complete answers to GET and HEAD, and to POST of small forms, on separate threads.
#ifndef CHTTPSERVER_H
#define CHTTPSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A request with its answer. It lives while its handler runs, and so do all texts from it.
typedef struct chttpserver_exchange chttpserver_exchange;

// Runs on the thread of a connection, several at once, and must call chttpserver_answer once.
typedef void (*chttpserver_handler)(void *_Nullable context, chttpserver_exchange *_Nonnull exchange);

// The decoded path of the URL, without the query.
const char *_Nonnull chttpserver_path(const chttpserver_exchange *_Nonnull exchange);

// The value of a header, NULL without it. `name` is in any case.
const char *_Nullable chttpserver_header(const chttpserver_exchange *_Nonnull exchange, const char *_Nonnull name);

// An argument of the query by its place from 0, name and value decoded. False after the last one.
bool chttpserver_argument(
    const chttpserver_exchange *_Nonnull exchange, int place, const char *_Nullable *_Nonnull name,
    const char *_Nullable *_Nonnull value);

// The largest body of a POST. A larger one is answered with 413 before the handler runs.
enum { CHTTPSERVER_MOST_BYTES = 64 << 10 };

// The answer is a file of untrusted content. A browser saves it under this name and runs nothing of it. The name has
// only letters, digits, dots and hyphens. Call it before chttpserver_answer.
void chttpserver_name_file(chttpserver_exchange *_Nonnull exchange, const char *_Nonnull name);

// Whether it is a POST. Otherwise it is a GET or HEAD.
bool chttpserver_is_post(const chttpserver_exchange *_Nonnull exchange);

// The body of a POST; NULL and 0 without one.
const void *_Nullable chttpserver_body(const chttpserver_exchange *_Nonnull exchange, size_t *_Nonnull count);

// Sends the answer. It copies all arguments. `location` is the header of a redirect, NULL for none.
void chttpserver_answer(
    chttpserver_exchange *_Nonnull exchange, unsigned status, const char *_Nonnull type, const char *_Nullable location,
    const void *_Nullable body, size_t count);

// Starts the server. `address` is a numeric IPv4 or IPv6 address. `post_path` is the only path that takes POST, NULL for
// none. It is copied. Returns 0 or an errno.
int chttpserver_start(
    const char *_Nonnull address, uint16_t port, const char *_Nullable post_path, chttpserver_handler _Nonnull handler,
    void *_Nullable context);

// Accepts no more requests, and waits at most this long for running answers. Threads that take longer go on, and end
// with the process.
void chttpserver_stop(int milliseconds);

// Whether a numeric address is a loopback address; -1 if it is not an address.
int chttpserver_is_loopback(const char *_Nonnull address);

#endif

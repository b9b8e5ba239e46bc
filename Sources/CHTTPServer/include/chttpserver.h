// SPDX-License-Identifier: Apache-2.0
// The part of libmicrohttpd for read-only pages: complete answers to GET and HEAD, on separate threads.
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

// Sends the answer. It copies all arguments.
void chttpserver_answer(
    chttpserver_exchange *_Nonnull exchange, unsigned status, const char *_Nonnull type, const void *_Nullable body,
    size_t count);

// Starts the server. `address` is a numeric IPv4 or IPv6 address. Returns 0 or an errno.
int chttpserver_start(
    const char *_Nonnull address, uint16_t port, chttpserver_handler _Nonnull handler, void *_Nullable context);

// Accepts no more requests, and waits at most this long for running answers. Threads that take longer go on, and end
// with the process.
void chttpserver_stop(int milliseconds);

// Whether a numeric address is a loopback address; -1 if it is not an address.
int chttpserver_is_loopback(const char *_Nonnull address);

#endif

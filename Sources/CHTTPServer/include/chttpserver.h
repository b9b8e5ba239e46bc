// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd as far as pages go that are read only: whole answers to GET and HEAD, on threads of its own.
#ifndef CHTTPSERVER_H
#define CHTTPSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A request with its answer. Lives while its handler runs, and so does all text that is got from it.
typedef struct chttpserver_exchange chttpserver_exchange;

// Is called on the thread of a connection, several at once, and calls chttpserver_answer once.
typedef void (*chttpserver_handler)(void *_Nullable context, chttpserver_exchange *_Nonnull exchange);

// Of the URL, without the query, decoded.
const char *_Nonnull chttpserver_path(const chttpserver_exchange *_Nonnull exchange);

// The value of a header, NULL if there is none. name: in any case.
const char *_Nullable chttpserver_header(const chttpserver_exchange *_Nonnull exchange, const char *_Nonnull name);

// An argument of the query by its place from 0, name and value decoded. False: there are no more.
bool chttpserver_argument(
    const chttpserver_exchange *_Nonnull exchange, int place, const char *_Nullable *_Nonnull name,
    const char *_Nullable *_Nonnull value);

// Copies all it is given.
void chttpserver_answer(
    chttpserver_exchange *_Nonnull exchange, unsigned status, const char *_Nonnull type, const void *_Nullable body,
    size_t count);

// Serves from now on. address: IPv4 or IPv6 in numbers. Returns 0, or the errno of what failed.
int chttpserver_start(
    const char *_Nonnull address, uint16_t port, chttpserver_handler _Nonnull handler, void *_Nullable context);

// Takes no more requests, and waits so long at most for the end of those that are being answered. Threads that hang beyond that go on, and
// end with the process.
void chttpserver_stop(int milliseconds);

// Whether an address in numbers is one of the loopback; -1: it is no such address.
int chttpserver_is_loopback(const char *_Nonnull address);

#endif

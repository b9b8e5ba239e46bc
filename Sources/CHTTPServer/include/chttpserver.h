// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd as far as pages go that are read only: whole answers to GET and HEAD, on threads of its own.
#ifndef CHTTPSERVER_H
#define CHTTPSERVER_H

#include <stddef.h>
#include <stdint.h>

// What is answered; filled by the handler.
typedef struct chttpserver_answer chttpserver_answer;

// Is called on the thread of a connection, several at once, and calls chttpserver_answer_with once. authorization: the header, NULL
// if there is none. path: without the query, decoded.
typedef void (*chttpserver_handler)(
    void *_Nullable context, const char *_Nonnull path, const char *_Nullable authorization,
    chttpserver_answer *_Nonnull answer);

// Copies all it is given.
void chttpserver_answer_with(
    chttpserver_answer *_Nonnull answer, unsigned status, const char *_Nonnull type, const void *_Nullable body, size_t count);

// Serves from now on. address: IPv4 or IPv6 in numbers. Returns 0, or the errno of what failed.
int chttpserver_start(
    const char *_Nonnull address, uint16_t port, chttpserver_handler _Nonnull handler, void *_Nullable context);

// Takes no more requests, and waits so long at most for the end of those that are being answered. Threads that hang beyond that go on, and
// end with the process.
void chttpserver_stop(int milliseconds);

// Whether an address in numbers is one of the loopback; -1: it is no such address.
int chttpserver_is_loopback(const char *_Nonnull address);

#endif

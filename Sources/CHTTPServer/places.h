// SPDX-License-Identifier: Apache-2.0
// The places for connections of the server. libmicrohttpd closes only silent connections. A client that sends a byte
// from time to time would keep its place permanently. Here a new connection replaces the one that has waited longest.
#ifndef PLACES_H
#define PLACES_H

#include <sys/socket.h>

// The most open connections, including those that are being closed.
enum { PLACES = 48 };

enum place_state {
    PLACE_IS_FREE,
    // The head of a request is not complete: the connection is new, or its last answer was sent.
    PLACE_WAITS,
    // An answer is being sent.
    PLACE_SENDS,
    // An answer is being built, which always ends. The thread would not notice a close before.
    PLACE_ANSWERS,
    // It was shut down, and its thread has not closed it yet.
    PLACE_ENDS,
};

struct place;

// Takes a place for an accepted connection. NULL without a free place.
//
// If more than `most` connections are open, another one is ended. Waiting ones go before sending ones, and the longest
// wait first. If more than `most_of_one` belong to one client, one of that client's is ended. If answers to all its
// others are being built, the new one itself ends.
struct place *place_take(int socket, const struct sockaddr *client, int most, int most_of_one);

// Sets the state of the connection, unless it is being closed.
void place_set_state(struct place *place, enum place_state state);

// Frees the place. Call it before the socket is closed, because another socket may then get the number.
void place_leave(struct place *place);

#endif

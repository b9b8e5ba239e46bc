// SPDX-License-Identifier: Apache-2.0
// The connections of the server. libmicrohttpd counts seconds without a byte only, so whoever sends one now and then would hold a place for
// ever: here the one that has waited for longest gives its place up to a new one.
#ifndef PLACES_H
#define PLACES_H

#include <sys/socket.h>

// How many may be open, those included whose end is under way.
enum { PLACES = 48 };

enum place_state {
    PLACE_IS_FREE,
    // The head of a request is not complete: the connection is new, or its last answer has been sent.
    PLACE_WAITS,
    // An answer is being sent.
    PLACE_SENDS,
    // An answer is being made: that ends by itself, and its thread hears of nothing before.
    PLACE_ANSWERS,
    PLACE_ENDS,
};

struct place;

// For a connection that was accepted. If more than `most` are open then and do not end, another one is ended: one that waits rather than
// one that sends, the one that has for longest. If more than `most_of_one` are of its client, that is one of that client's, or it itself
// while answers to all the others are being made. NULL: there is no place.
struct place *place_take(int socket, const struct sockaddr *client, int most, int most_of_one);

// What it does from now on, unless its end is under way.
void place_follow(struct place *place, enum place_state state);

// The connection has ended. Called before its socket is closed, whose number may be that of another one then.
void place_leave(struct place *place);

#endif

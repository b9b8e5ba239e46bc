// SPDX-License-Identifier: Apache-2.0
// What Linux offers and Swift's Glibc module does not show.
#ifndef CLINUX_H
#define CLINUX_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <malloc.h>
#include <spawn.h>

// pipe2(2) with O_CLOEXEC: no child that another thread starts meanwhile inherits an end.
int clinux_pipe(int *_Nonnull read_end, int *_Nonnull write_end);
// For posix_spawn: the child closes all descriptors from 3 and works in "/".
int clinux_spawn_close_and_chdir(posix_spawn_file_actions_t *_Nonnull actions);
// POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK.
short clinux_spawn_flags(void);
// TIOCGWINSZ: the columns and rows of a terminal; -1 and errno for what is none.
int clinux_terminal_size(int descriptor, int *_Nonnull columns, int *_Nonnull rows);
// SIOCOUTQ: bytes that the other end of a TCP connection has not confirmed yet; 0 for a socket of another kind.
int clinux_unconfirmed(int descriptor);
// Whether a signal is ignored, as nohup(1) leaves SIGHUP; SIG_IGN is a macro that Swift cannot see.
int clinux_is_ignored(int signal);

#endif

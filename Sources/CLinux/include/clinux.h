// SPDX-License-Identifier: Apache-2.0
// Functions of Linux that Swift's Glibc module lacks.
#ifndef CLINUX_H
#define CLINUX_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <malloc.h>
#include <spawn.h>
#include <stdbool.h>

// The arguments of main, up to a null pointer. Swift reads them from /proc, which may be missing in a chroot.
char *_Nullable *_Nonnull clinux_arguments(void);
// pipe2(2) with O_CLOEXEC, so that no child of another thread inherits an end.
int clinux_pipe(int *_Nonnull read_end, int *_Nonnull write_end);
// For posix_spawn: the child closes all descriptors from 3 and works in "/".
int clinux_spawn_close_and_chdir(posix_spawn_file_actions_t *_Nonnull actions);
// POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK.
short clinux_spawn_flags(void);
// TIOCGWINSZ: the columns and rows of a terminal. -1 and errno if it is not a terminal.
int clinux_terminal_size(int descriptor, int *_Nonnull columns, int *_Nonnull rows);
// SIOCOUTQ: the bytes that the other end of a TCP connection has not confirmed. 0 for other sockets.
int clinux_unconfirmed(int descriptor);
// Whether a signal is ignored, like SIGHUP under nohup(1). SIG_IGN is a macro that Swift cannot import.
int clinux_is_ignored(int signal);
// Whether the process is nearly out of descriptors at this moment.
bool clinux_is_short_of_descriptors(void);

#endif

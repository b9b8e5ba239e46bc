// SPDX-License-Identifier: Apache-2.0
//
// A file system that does not answer, as one of NFS does whose server is gone: syncs and reads of one file do not
// return. The program's own functions come before those of libc, so what is tested calls these.
#ifndef SILENT_DISK_H
#define SILENT_DISK_H

/// From now on no sync or read of the file with this absolute path returns, until `silent_disk_speak`; of those
/// that it is asked for, so many first ones do.
void silent_disk_begin(const char *_Nonnull path, int passing);
/// All return.
void silent_disk_speak(void);
/// How many threads wait.
int silent_disk_waiting(void);

#endif

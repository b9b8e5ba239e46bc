// SPDX-License-Identifier: Apache-2.0
//
// A file system that does not answer, like NFS without its server: syncs and reads of one file block.
//
// The test program defines fsync, fdatasync, posix_fadvise and pread itself. Its functions take precedence over libc,
// so the tested code calls them.
#ifndef SILENT_DISK_H
#define SILENT_DISK_H

/// Blocks syncs and reads of the file with this absolute path until `silent_disk_speak`. The first `passing` calls do
/// not block.
void silent_disk_begin(const char *_Nonnull path, int passing);
/// Lets all blocked calls return, and blocks no further ones.
void silent_disk_speak(void);
/// The number of blocked threads.
int silent_disk_waiting(void);

#endif

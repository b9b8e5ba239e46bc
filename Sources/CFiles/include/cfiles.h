// SPDX-License-Identifier: Apache-2.0
//
// Downloads to disk, and files from disk, without HTTP. A `cfiles_disk` is one helper thread for all work that may
// block: opening, reading, writing, hashing, syncing, renaming. The loop's thread only copies bytes into a part's ring
// and reads its state. The disk's descriptor (an eventfd) becomes readable when a state has changed.
//
// A download of `a/b` is in `a/b.part` while it grows, with a note next to it, `a/b.part.meta`. The note contains the
// writer, the owner's text, and how many bytes are durable. It is replaced as a whole, and never counts bytes that are
// not durable.
#ifndef CFILES_H
#define CFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct cfiles_disk cfiles_disk;
typedef struct cfiles_part cfiles_part;
typedef struct cfiles_file cfiles_file;

typedef enum {
    CFILES_PART_OPENING,
    CFILES_PART_OPEN,
    /// Closed and kept for another attempt. A part without bytes is removed.
    CFILES_PART_SUSPENDED,
    /// The file has its final name.
    CFILES_PART_DONE,
    CFILES_PART_FAILED,
} cfiles_part_state;

/// The step that failed.
typedef enum {
    CFILES_STAGE_NONE,
    CFILES_STAGE_PATH,
    CFILES_STAGE_KIND,
    CFILES_STAGE_LOCK,
    CFILES_STAGE_WRITE,
    CFILES_STAGE_NOTE,
    CFILES_STAGE_CHECKSUM,
    CFILES_STAGE_RENAME,
} cfiles_part_stage;

typedef struct {
    cfiles_part_state state;
    cfiles_part_stage stage;
    int os_errno;
    /// How many durable bytes were found when the part was opened, and how many there are now.
    int64_t found, durable;
    /// How many bytes are in the file, durable or not.
    int64_t written;
    /// Whether there is room again, after `cfiles_part_append` had none.
    bool has_room;
    /// The owner's text in the note that was found; null before the part is open. Valid until the next begin or free.
    const char *_Nullable text;
    /// The holder of the lock, if the stage is CFILES_STAGE_LOCK; possibly empty.
    const char *_Nonnull holder;
    /// While this part waits for the thread: since when the thread has worked on its current step, of any part, in
    /// nanoseconds of CLOCK_MONOTONIC. Otherwise 0.
    int64_t waits_since;
} cfiles_part_status;

/// Starts the thread. `holder` names this process to others that find a part locked. Null without memory or threads.
cfiles_disk *_Nullable cfiles_disk_create(const char *_Nonnull root, const char *_Nonnull holder);
/// Finishes the current work and ends the thread. After 10 s it leaves a thread that hangs, with its memory. All parts
/// must be freed before.
void cfiles_disk_destroy(cfiles_disk *_Nonnull disk);
/// Copies the path of the current work, cut to `size` bytes including the NUL; empty if the thread is idle. True if it
/// is the path of a part, whose file has the same name with `.part`.
bool cfiles_disk_current(cfiles_disk *_Nonnull disk, char *_Nonnull path, size_t size);
int cfiles_disk_descriptor(const cfiles_disk *_Nonnull disk);
/// Makes the descriptor unreadable until the next change.
void cfiles_disk_drain(cfiles_disk *_Nonnull disk);
/// Removes all parts below the root that are unchanged for this time, in the background.
void cfiles_disk_expire(cfiles_disk *_Nonnull disk, int64_t seconds);

// MARK: files that are received (part.c)

/// Opens and locks the part for `path`, and creates missing directories. `sha256`: 32 bytes, or null. Null without
/// memory.
cfiles_part *_Nullable cfiles_part_open(
    cfiles_disk *_Nonnull disk, const char *_Nonnull path, const uint8_t *_Nullable sha256);
cfiles_part_status cfiles_part_look(cfiles_part *_Nonnull part);
/// Begins to write at byte `offset`, and cuts off the bytes after it. With `text` the note is replaced before the file
/// is changed. Without it the note stays. False without memory.
bool cfiles_part_begin(cfiles_part *_Nonnull part, int64_t offset, const char *_Nullable text);
/// Copies bytes into the ring: all of them, or none if there is no room or the part has failed.
bool cfiles_part_append(cfiles_part *_Nonnull part, const void *_Nonnull bytes, size_t length);
/// Writes the bytes of the ring. It makes them durable 5 s or 16 MiB after the last time.
void cfiles_part_flush(cfiles_part *_Nonnull part);
/// Completes the file: checks the hash, syncs, renames, syncs the directory.
void cfiles_part_finish(cfiles_part *_Nonnull part);
/// Makes the bytes durable and closes the part.
void cfiles_part_suspend(cfiles_part *_Nonnull part);
/// Suspends the part if it is open. The pointer is void afterwards.
void cfiles_part_free(cfiles_part *_Nonnull part);

// MARK: files that are sent (file.c)

/// The read-ahead for the file that is being sent, and for the next files of its call.
enum { CFILES_FILE_AHEAD = 256 * 1024 };

/// CHANGED: the rest cannot be sent: the file changed, a read failed, or memory was short.
typedef enum { CFILES_FILE_OPENING, CFILES_FILE_OPEN, CFILES_FILE_REFUSED, CFILES_FILE_CHANGED } cfiles_file_state;

/// ROOT: the root cannot be opened. OUTSIDE: the path leaves the root. LINK: it has a symbolic link. KIND: no regular
/// file. DESCRIPTORS: too many open files.
typedef enum {
    CFILES_FILE_ROOT, CFILES_FILE_ABSENT, CFILES_FILE_OUTSIDE, CFILES_FILE_LINK, CFILES_FILE_KIND,
    CFILES_FILE_UNREADABLE, CFILES_FILE_DESCRIPTORS,
} cfiles_file_refusal;

typedef struct {
    cfiles_file_state state;
    /// The reason, if it is refused.
    cfiles_file_refusal refusal;
    /// The size, known once the file is open.
    int64_t size;
    /// Whether bytes were read that are not sent yet.
    bool has_bytes;
    /// As in `cfiles_part_status`.
    int64_t waits_since;
} cfiles_file_status;

/// Begins to open a regular file below the root without following a link. It also reads the file if it is the first of
/// its call. Null without memory.
cfiles_file *_Nullable cfiles_file_open(cfiles_disk *_Nonnull disk, const char *_Nonnull path, bool is_first);
/// Begins to read an open file. The descriptor becomes readable when it has bytes.
void cfiles_file_read(cfiles_file *_Nonnull file);
cfiles_file_status cfiles_file_look(const cfiles_file *_Nonnull file);
/// Frees the file. The pointer is void afterwards. The transfer that sends it must be stopped before.
void cfiles_file_free(cfiles_file *_Nonnull file);

/// Results of `cfiles_file_take` without bytes. WAIT: the thread has not read them yet. Then the descriptor becomes
/// readable. LOST: they cannot be sent.
enum { CFILES_WAIT = -1, CFILES_LOST = -2 };

/// Copies the next bytes of an open file, at most `length`, and returns their number; 0 at the end.
int64_t cfiles_file_take(cfiles_file *_Nonnull file, void *_Nonnull bytes, size_t length);
/// Goes to another byte of the file. False if it has no such byte.
bool cfiles_file_seek(cfiles_file *_Nonnull file, int64_t offset);
/// The path below the root. It lives as long as the file.
const char *_Nonnull cfiles_file_path(const cfiles_file *_Nonnull file);
/// Makes `next` the file that is sent after this one. The thread reads it when this one has been read.
void cfiles_file_set_next(cfiles_file *_Nonnull file, cfiles_file *_Nonnull next);

// MARK: paths (beneath.c)

// Jobs name files. They are opened from the directory of `--files`, and never outside of it.

/// Opens the files root. Returns a descriptor or -errno.
int cfiles_root_open(const char *_Nonnull path);

/// Whether `path` may name a file below a root: relative, at most 4095 bytes, and no name in it is empty, `.` or `..`.
bool cfiles_path_is_beneath(const char *_Nonnull path);

/// Opens `path` below `root`. Returns a descriptor (close-on-exec) or -errno.
///
/// -EINVAL: `path` is not beneath a root. -ELOOP: a name in it is a symbolic link. -EXDEV: the kernel found a way out
/// of the root. With `make_parents`, missing directories are created (mode 0777 without the umask's bits).
///
/// `flags` and `mode` are passed to open(2). O_NOFOLLOW and O_NONBLOCK are added, so that no link is followed and no
/// FIFO blocks. Check the kind of the opened file with fstat.
int cfiles_open_beneath(int root, const char *_Nonnull path, int flags, mode_t mode, bool make_parents);

/// Opens the directory of `path` below `root` with O_PATH. `name` then points to the last name in `path`. Returns as
/// `cfiles_open_beneath` does.
int cfiles_parent_beneath(int root, const char *_Nonnull path, bool make_parents, const char *_Nullable *_Nonnull name);

// MARK: hashes (fill.c)

/// The SHA-256 of a short text, 32 bytes. False if the library refuses.
bool cfiles_sha256(const void *_Nonnull bytes, size_t length, uint8_t *_Nonnull out);

#endif

/* A file system with one file, `data`, in memory, that does wrong what it is told to do wrong.
 *
 *     faulty MOUNTPOINT MEBIBYTES FAULT NTH [libfuse options]
 *
 * FAULT happens to the NTH write (of up to 64 KiB each) or, for fsync, to the NTH fsync:
 *   none         nothing
 *   lost         the write is acknowledged and not kept
 *   torn         only its first half is kept
 *   misdirected  it is kept in the neighbouring 64 KiB, and not where it belongs
 *   rot          one bit of it is kept wrong
 *   fsync        fsync says EIO once, and what was written since the one before is gone
 *   wrap         from then on addresses lead back to the first half of the file
 */
#define FUSE_USE_VERSION 31
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *data, *kept;
static size_t size;
static const char *fault;
static long nth, writes, fsyncs;

static size_t place(off_t at) {
    int wraps = !strcmp(fault, "wrap") && writes >= nth;
    return wraps ? (size_t)at % (size / 2) : (size_t)at;
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *fi) {
    (void)fi;
    memset(st, 0, sizeof *st);
    if (!strcmp(path, "/")) {
        st->st_mode = S_IFDIR | 0755;
        st->st_nlink = 2;
    } else if (!strcmp(path, "/data")) {
        st->st_mode = S_IFREG | 0600;
        st->st_nlink = 1;
        st->st_size = size;
        st->st_blocks = size / 512;
    } else {
        return -ENOENT;
    }
    return 0;
}

static int list(const char *path, void *buf, fuse_fill_dir_t fill, off_t at, struct fuse_file_info *fi, enum fuse_readdir_flags flags) {
    (void)path, (void)at, (void)fi, (void)flags;
    fill(buf, "data", NULL, 0, 0);
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi) {
    if (strcmp(path, "/data")) return -ENOENT;
    fi->direct_io = 1;
    return 0;
}

static int read_file(const char *path, char *buf, size_t n, off_t at, struct fuse_file_info *fi) {
    (void)path, (void)fi;
    if ((size_t)at >= size) return 0;
    if (n > size - at) n = size - at;
    for (size_t done = 0; done < n; done += 4096) {
        size_t piece = n - done < 4096 ? n - done : 4096;
        memcpy(buf + done, data + place(at + done), piece);
    }
    return n;
}

static int write_file(const char *path, const char *buf, size_t n, off_t at, struct fuse_file_info *fi) {
    (void)path, (void)fi;
    if ((size_t)at >= size) return -ENOSPC;
    if (n > size - at) n = size - at;
    int now = ++writes == nth;
    if (now && !strcmp(fault, "lost")) return n;
    size_t keep = now && !strcmp(fault, "torn") ? n / 2 : n;
    off_t to = now && !strcmp(fault, "misdirected") ? at ^ 65536 : at;
    for (size_t done = 0; done < keep; done += 4096) {
        size_t piece = keep - done < 4096 ? keep - done : 4096;
        memcpy(data + place(to + done), buf + done, piece);
    }
    if (now && !strcmp(fault, "rot")) data[at + 1000] ^= 16;
    return n;
}

static int sync_file(const char *path, int only_data, struct fuse_file_info *fi) {
    (void)path, (void)only_data, (void)fi;
    if (!strcmp(fault, "fsync") && ++fsyncs == nth) {
        memcpy(data, kept, size);
        return -EIO;
    }
    if (!strcmp(fault, "fsync")) memcpy(kept, data, size);
    return 0;
}

static int truncate_file(const char *path, off_t to, struct fuse_file_info *fi) {
    (void)path, (void)fi;
    return (size_t)to == size ? 0 : -EINVAL;
}

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config) {
    (void)config;
    connection->max_write = 65536;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = begin,
    .getattr = get_attributes, .readdir = list, .open = open_file, .read = read_file,
    .write = write_file, .fsync = sync_file, .truncate = truncate_file,
};

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    size = strtoul(argv[2], NULL, 10) << 20;
    fault = argv[3];
    nth = strtol(argv[4], NULL, 10);
    data = calloc(1, size);
    kept = calloc(1, size);
    if (!data || !kept) return 3;
    char *rest[16] = {argv[0], argv[1], "-s", "-f"};
    int n = 4;
    for (int i = 5; i < argc && n < 15; i++) rest[n++] = argv[i];
    return fuse_main(n, rest, &operations, NULL);
}

/* A machine that fails on command, between a program and its libc (LD_PRELOAD).
 *
 * SHIM_CONTROL names a file of sizeof(struct machine) bytes, shared with the test that steers it and outliving a
 * kill -9. The shim reads the faults in it at every call and keeps the books of the disk in it:
 *   - of each regular file, the size that the last completed fsync or fdatasync has covered: what a power cut leaves;
 *   - fsyncs and writes that take longer, or fail with an errno of the test's choice;
 *   - a wall clock (clock_gettime, gettimeofday, time) that is some seconds off. Monotonic clocks stay right.
 * Every call goes to the kernel by its number, so that nothing depends on the order of libraries.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 1024

struct durable {
    _Atomic int64_t inode; /* 0: a free place */
    _Atomic int64_t size;
};

struct machine { /* machine.py writes and reads the same words, all of 64 bits. */
    _Atomic int64_t clock_seconds;
    _Atomic int64_t fsync_milliseconds;
    _Atomic int64_t fsync_errno;
    _Atomic int64_t write_errno;
    _Atomic int64_t fsyncs;       /* completed */
    _Atomic int64_t fsyncs_failed;
    _Atomic int64_t writes_failed;
    _Atomic int64_t clock_calls;
    struct durable files[FILES_MAX];
};

static struct machine *machine;

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("SHIM_CONTROL");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof(struct machine), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED)
        machine = mapped;
    close(fd);
}

/* The disk. */

static void remember(int64_t inode, int64_t size)
{
    for (int place = 0; place < FILES_MAX; place++) {
        struct durable *file = &machine->files[place];
        int64_t free_place = 0;
        if (file->inode == inode || atomic_compare_exchange_strong(&file->inode, &free_place, inode)
            || free_place == inode) {
            file->size = size;
            return;
        }
    }
    abort(); /* A test that makes so many files must raise FILES_MAX. */
}

static int synchronise(long call, int fd)
{
    struct stat before;
    if (machine == NULL || fstat(fd, &before) != 0 || !S_ISREG(before.st_mode))
        return (int)syscall(call, fd);
    int64_t milliseconds = machine->fsync_milliseconds;
    if (milliseconds > 0) {
        struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    if (machine->fsync_errno != 0) {
        machine->fsyncs_failed++;
        errno = (int)machine->fsync_errno;
        return -1;
    }
    int result = (int)syscall(call, fd);
    if (result == 0) { /* Only what was written before the call is covered. */
        remember((int64_t)before.st_ino, (int64_t)before.st_size);
        machine->fsyncs++;
    }
    return result;
}

int fsync(int fd) { return synchronise(SYS_fsync, fd); }
int fdatasync(int fd) { return synchronise(SYS_fdatasync, fd); }

static int write_fails(int fd)
{
    struct stat file;
    if (machine == NULL || machine->write_errno == 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        return 0;
    machine->writes_failed++;
    errno = (int)machine->write_errno;
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return write_fails(fd) ? -1 : syscall(SYS_write, fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return write_fails(fd) ? -1 : syscall(SYS_writev, fd, parts, count);
}

/* The clock. */

static int64_t ahead(void)
{
    if (machine == NULL)
        return 0;
    machine->clock_calls++;
    return machine->clock_seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (result != NULL)
        *result = exact.tv_sec;
    return exact.tv_sec;
}

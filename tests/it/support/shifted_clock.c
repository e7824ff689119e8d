/* Preloaded into a server of a test: its clock is that of the machine plus what the test wrote into a file, an i64 of
 * microseconds. The monotonic clock stays as it is, as when somebody sets the date. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_us;

__attribute__((constructor)) static void map_shift(void) {
    const char *path = getenv("JACKPOT_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    shift_us = mapped == MAP_FAILED ? NULL : mapped;
}

static int shifted_ns(clockid_t clock, struct timespec *at) {
    long failed = syscall(SYS_clock_gettime, clock, at);
    if (failed || !shift_us || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) {
        return (int)failed;
    }
    int64_t ns = (int64_t)at->tv_sec * 1000000000 + at->tv_nsec + *shift_us * 1000;
    at->tv_sec = ns / 1000000000;
    at->tv_nsec = ns % 1000000000;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) { return shifted_ns(clock, at); }

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    if (shifted_ns(CLOCK_REALTIME, &exact)) {
        return -1;
    }
    at->tv_sec = exact.tv_sec;
    at->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec exact;
    shifted_ns(CLOCK_REALTIME, &exact);
    if (at) {
        *at = exact.tv_sec;
    }
    return exact.tv_sec;
}

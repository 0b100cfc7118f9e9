/*
 * time.c -- clocks and sleeping.
 *
 *      MONOTONIC, BOOTTIME   virtual time, from an uptime of 1000 s on
 *      REALTIME, TAI         the same, from a fixed date on
 *      *_COARSE              of these, the last multiple of 4 ms, as with a kernel of 250 Hz
 *      CPU clocks            what was spent in steps: of all threads, of this one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/posix/state.h"
#include "sim/posix/wait.h"

#define COARSE_NS 4000000u
#define TICKS_A_SECOND 100
/* In the year 2116: dates of a run are before. */
#define TIME_MAX_NS (UINT64_C(1) << 62)

enum source { VIRTUAL, DATE, ALL_THREADS, THIS_THREAD };

static const struct {
    clockid_t clock;
    enum source source;
    uint32_t resolution_ns;
} clocks[] = {
        {CLOCK_MONOTONIC, VIRTUAL, 1},
        {CLOCK_REALTIME, DATE, 1},
        {CLOCK_PROCESS_CPUTIME_ID, ALL_THREADS, 1},
        {CLOCK_THREAD_CPUTIME_ID, THIS_THREAD, 1},
        {CLOCK_MONOTONIC_RAW, VIRTUAL, 1},
        {CLOCK_MONOTONIC_COARSE, VIRTUAL, COARSE_NS},
        {CLOCK_REALTIME_COARSE, DATE, COARSE_NS},
        {CLOCK_BOOTTIME, VIRTUAL, 1},
        {CLOCK_BOOTTIME_ALARM, VIRTUAL, 1},
        {CLOCK_REALTIME_ALARM, DATE, 1},
        {CLOCK_TAI, DATE, 1},
};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

/* Its place in the table; CLOCKS: there is no such clock. */
static size_t
place_of(clockid_t clock)
{
    size_t place = 0;
    while (place < CLOCKS && clocks[place].clock != clock) {
        place++;
    }
    return place;
}

static uint64_t
spent(const struct sim_world *world, const struct sim_actor *actor)
{
    return actor != NULL ? actor->polls * world->options.step_ns : world->now_ns - world->quiet_ns;
}

static uint64_t
read_ns(size_t place)
{
    struct sim_world *world = sim_world_current;
    switch (clocks[place].source) {
    case VIRTUAL:
        return SIM_THREAD_UPTIME_NS + sim_now(world);
    case DATE:
        return SIM__DATE_NS + sim_now(world);
    case ALL_THREADS:
        return spent(world, NULL);
    case THIS_THREAD:
        return spent(world, world->current);
    }
    rt_unreached("a clock has one of these sources");
}

static struct timespec
to_timespec(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / SIM__SECOND_NS), (long)(ns % SIM__SECOND_NS)};
    return time;
}

/* What it reads now, for a program that may read it in a loop. */
static uint64_t
look(size_t place)
{
    rt_assert(place < CLOCKS);
    if (sim__posix_busy()) {
        sim_thread_let_time_pass();
    }
    uint64_t ns = read_ns(place);
    return ns - ns % clocks[place].resolution_ns;
}

int
sim__posix_clock_gettime(clockid_t clock, struct timespec *ret)
{
    size_t place = place_of(clock);
    if (place == CLOCKS) {
        return sim__posix_error(EINVAL);
    }
    *ret = to_timespec(look(place));
    return 0;
}

int
sim__posix_clock_getres(clockid_t clock, struct timespec *ret)
{
    size_t place = place_of(clock);
    if (place == CLOCKS) {
        return sim__posix_error(EINVAL);
    }
    if (ret != NULL) {
        *ret = to_timespec(clocks[place].resolution_ns);
    }
    return 0;
}

static struct timespec
date(void)
{
    return to_timespec(look(place_of(CLOCK_REALTIME)));
}

int
sim__posix_gettimeofday(struct timeval *ret, void *zone)
{
    if (zone != NULL) {
        memset(zone, 0, sizeof(struct timezone));
    }
    if (ret != NULL) {
        struct timespec now = date();
        *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    }
    return 0;
}

int
sim__posix_timespec_get(struct timespec *ret, int base)
{
    if (base != TIME_UTC) {
        return 0;
    }
    *ret = date();
    return base;
}

time_t
sim__posix_time(time_t *ret)
{
    time_t now = date().tv_sec;
    if (ret != NULL) {
        *ret = now;
    }
    return now;
}

clock_t
sim__posix_clock(void)
{
    return (clock_t)(look(place_of(CLOCK_PROCESS_CPUTIME_ID)) / (SIM__SECOND_NS / CLOCKS_PER_SEC));
}

clock_t
sim__posix_times(struct tms *ret)
{
    uint64_t tick_ns = SIM__SECOND_NS / TICKS_A_SECOND;
    if (ret != NULL) {
        *ret = (struct tms){
                .tms_utime = (clock_t)(look(place_of(CLOCK_PROCESS_CPUTIME_ID)) / tick_ns)};
    }
    return (clock_t)(look(place_of(CLOCK_MONOTONIC)) / tick_ns);
}

/* ---- Sleeping. ------------------------------------------------------------------------------- */

bool
sim__posix_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SIM__SECOND_NS;
}

uint64_t
sim__posix_ns(const struct timespec *time)
{
    rt_assert(sim__posix_valid(time));
    uint64_t s = (uint64_t)time->tv_sec;
    return s >= TIME_MAX_NS / SIM__SECOND_NS ? TIME_MAX_NS
                                             : s * SIM__SECOND_NS + (uint64_t)time->tv_nsec;
}

uint64_t
sim__posix_due(clockid_t clock, bool absolute, const struct timespec *time)
{
    size_t place = place_of(clock);
    rt_assert(place < CLOCKS);
    uint64_t ns = sim__posix_ns(time);
    uint64_t base_ns = clocks[place].source == DATE ? SIM__DATE_NS : SIM_THREAD_UPTIME_NS;
    uint64_t due_ns = !absolute ? sim_now(sim_world_current) + ns : ns > base_ns ? ns - base_ns : 0;
    return due_ns < SIM_NS_LAST ? due_ns : SIM_NS_LAST;
}

bool
sim__posix_waits_on(clockid_t clock)
{
    size_t place = place_of(clock);
    return place < CLOCKS && (clocks[place].source == VIRTUAL || clocks[place].source == DATE);
}

/* 0, or EINTR with what is left of it in *rest (NULL: not asked for). */
static int
sleep_until(uint64_t due_ns, struct timespec *rest)
{
    struct sim__posix_wait wait = {.reason = "its own sleep", .due_ns = due_ns};
    if (sim__posix_wait(&wait) != SIM__POSIX_INTERRUPTED) {
        return 0;
    }
    uint64_t now_ns = sim_now(sim_world_current);
    if (rest != NULL) {
        *rest = to_timespec(due_ns > now_ns ? due_ns - now_ns : 0);
    }
    return EINTR;
}

int
sim__posix_clock_nanosleep(
        clockid_t clock, int flags, const struct timespec *ask, struct timespec *rest)
{
    if (!sim__posix_waits_on(clock) || !sim__posix_valid(ask)) {
        return EINVAL;
    }
    bool absolute = (flags & TIMER_ABSTIME) != 0;
    return sleep_until(sim__posix_due(clock, absolute, ask), absolute ? NULL : rest);
}

int
sim__posix_nanosleep(const struct timespec *ask, struct timespec *rest)
{
    int error = sim__posix_clock_nanosleep(CLOCK_REALTIME, 0, ask, rest);
    return error != 0 ? sim__posix_error(error) : 0;
}

int
sim__posix_usleep(useconds_t us)
{
    int error = sleep_until(sim_now(sim_world_current) + (uint64_t)us * 1000, NULL);
    return error != 0 ? sim__posix_error(error) : 0;
}

/* Returns the seconds that are left, rounded as Linux does. */
unsigned
sim__posix_sleep(unsigned s)
{
    struct timespec rest = {0, 0};
    (void)sleep_until(sim_now(sim_world_current) + s * (uint64_t)SIM__SECOND_NS, &rest);
    return (unsigned)rest.tv_sec + (rest.tv_nsec >= (long)SIM__SECOND_NS / 2 ? 1 : 0);
}

int
sim__posix_sched_yield(void)
{
    /* Time passes for who yields to no thread: one that sleeps may be what it waits for. */
    if (sim_world_current->enabled.count == 0) {
        (void)sim__posix_busy();
    }
    sim_thread_yield();
    return 0;
}

/*
 * driver.c -- the client of all servers, and the tables: `make bench-host`.
 *
 *      bench-host [ROUNDS [FIRST [LAST]]]    9 rounds; all measurements, or some by number
 *
 * A server runs on the first processor, this program on the second. In each round each server is
 * started once for each measurement, so what slows a round slows all of them; printed are medians
 * of the rounds.
 *
 *   echo      N connections; each has one message of 64 bytes under way. Round trips a second, p50
 *             and p99 of a round trip, and the server's processor time for one.
 *   timeouts  the same with 64 connections, and a timer for each that every message starts again.
 *   accept    connect, one message, reset; 64 at a time.
 *   http      wrk with 64 connections.
 *   memory    what 10,000 idle connections add to the server's resident pages and, where the
 *             server prints it, its own memory for one.
 *
 * Everything is on 127.0.0.1. A measurement lasts MEASURE_NS, and is given up after LIMIT_S.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <errno.h>
#include <libgen.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/tests/bench/host/peer.h"
#include "runtime/tests/bench/stopwatch.h"

#define MESSAGE 64
#define CONNECTIONS_MAX 10000
#define MEASURE_NS 1.5e8
#define LIMIT_S 20
#define ROUNDS_MAX 31
#define BATCH 256

struct server {
    const char *name;
    const char *program;
    const char *argument; /* NULL: none. */
    const char *missing;  /* What it is built from. */
};

static const struct server servers[] = {
        {"raw epoll", "raw_epoll", NULL, ""},
        {"rewake, epoll", "ours", "epoll", ""},
        {"rewake, io_uring", "ours", "io_uring", "liburing-dev"},
        {"libev", "with_libev", NULL, "libev-dev"},
        {"libevent", "with_libevent", NULL, "libevent-dev"},
        {"libuv", "with_libuv", NULL, "libuv1-dev"},
        {"Boost.Asio", "with_asio", NULL, "libboost-dev"},
        {"tokio", "with_tokio", NULL, "librust-tokio-dev"},
};
#define SERVERS (sizeof(servers) / sizeof(servers[0]))

/* What one measurement found; 0 where it does not apply. */
struct sample {
    double rate; /* A second. */
    double p50_us;
    double p99_us;
    double cpu_us; /* Of the server, for one. */
    double bytes;  /* Of the server, for a connection. */
};

struct measurement {
    const char *name;
    const char *mode; /* Of the server. */
    int connections;
    bool (*measure)(const struct measurement *what, struct sample *ret_sample);
};

static char folder[4096];
static pid_t running;
static int port = 20000;
static clockid_t server_clock;

/* ---- The server. ----------------------------------------------------------------------------- */

static void
pin(size_t processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static const char *
program_of(const struct server *server)
{
    static char path[5000];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, server->program);
    return path;
}

static int
connect_to(bool blocking)
{
    struct peer peer = {.port = (unsigned short)port};
    struct sockaddr_in address = peer_address(&peer);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        return -1;
    }
    peer_no_delay(fd);
    if (!blocking) {
        int on = 1;
        (void)ioctl(fd, FIONBIO, &on);
    }
    return fd;
}

/* Resets instead of closing, so that no port is kept in TIME_WAIT. */
static void
reset(int fd)
{
    struct linger linger = {1, 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    (void)close(fd);
}

static void
stop_server(void)
{
    if (running > 0) {
        (void)kill(running, SIGKILL);
        (void)waitpid(running, NULL, 0);
    }
    running = 0;
}

/* Starts it, and waits until it listens. False: it does not run here. */
static bool
start_server(const struct server *server, const char *mode)
{
    char number[16];
    port = port < 30000 ? port + 1 : 20001;
    (void)snprintf(number, sizeof(number), "%d", port);
    running = fork();
    if (running == 0) {
        pin(0);
        (void)execl(program_of(server), server->program, number, mode, server->argument, NULL);
        _exit(127);
    }
    for (int tries = 0; tries < 2000; tries++) {
        int fd = connect_to(true);
        if (fd >= 0) {
            reset(fd);
            (void)clock_getcpuclockid(running, &server_clock);
            return true;
        }
        if (waitpid(running, NULL, WNOHANG) == running) {
            running = 0;
            return false;
        }
        (void)usleep(1000);
    }
    stop_server();
    return false;
}

static double
server_cpu_ns(void)
{
    struct timespec time;
    (void)clock_gettime(server_clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double
server_resident(void)
{
    char path[64];
    long pages = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/statm", running);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        (void)!fscanf(file, "%*d %ld", &pages);
        (void)fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* ---- Round trips and their times. ------------------------------------------------------------ */

/* 32 buckets for each doubling of the time in ns: 3 %. */
#define BUCKETS (64 * 32)
static uint32_t buckets[BUCKETS];
static uint64_t trips;

static void
count_trip(double ns)
{
    uint64_t time = (uint64_t)ns | 32;
    int high = 63 - __builtin_clzll(time);
    buckets[high * 32 + (int)(time >> (high - 5) & 31)]++;
    trips++;
}

static double
percentile_us(double percent)
{
    uint64_t seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
        seen += buckets[i];
        if ((double)seen >= (double)trips * percent / 100) {
            return (double)(UINT64_C(32) + (uint64_t)i % 32) * (double)(UINT64_C(1) << (i / 32)) /
                   32 / 1e3;
        }
    }
    return 0;
}

struct client {
    int fd;
    size_t received;
    double sent_ns;
};

static struct client clients[CONNECTIONS_MAX];
static const char message[MESSAGE] = "sixty-four bytes";

static bool
send_message(struct client *client)
{
    client->received = 0;
    client->sent_ns = stopwatch_now_ns();
    return send(client->fd, message, MESSAGE, MSG_NOSIGNAL) == MESSAGE;
}

/* Reads what is there. True when the message is complete. */
static bool
receive(struct client *client)
{
    char buffer[MESSAGE];
    ssize_t size = recv(client->fd, buffer, MESSAGE - client->received, MSG_DONTWAIT);
    client->received += size > 0 ? (size_t)size : 0;
    return client->received == MESSAGE;
}

static void
hang_up(int count)
{
    for (int i = 0; i < count; i++) {
        reset(clients[i].fd);
    }
}

static bool
call(int epoll, int count)
{
    for (int i = 0; i < count; i++) {
        clients[i].fd = connect_to(false);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u32 = (uint32_t)i}};
        if (clients[i].fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event) != 0) {
            perror("connect");
            return false;
        }
    }
    return true;
}

static void
forget_trips(void)
{
    memset(buckets, 0, sizeof(buckets));
    trips = 0;
}

/* Messages go round until `end_ns`. */
static void
exchange(int epoll, double end_ns)
{
    while (stopwatch_now_ns() < end_ns) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(epoll, events, BATCH, 100);
        for (int i = 0; i < count; i++) {
            struct client *client = &clients[events[i].data.u32];
            if (receive(client)) {
                count_trip(stopwatch_now_ns() - client->sent_ns);
                (void)send_message(client);
            }
        }
    }
}

static bool
measure_echo(const struct measurement *what, struct sample *ret_sample)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    double before = server_resident();
    bool called = call(epoll, what->connections);
    (void)usleep(20000);
    ret_sample->bytes = (server_resident() - before) / what->connections;
    for (int i = 0; called && i < what->connections; i++) {
        called = send_message(&clients[i]);
    }
    if (called) {
        exchange(epoll, stopwatch_now_ns() + MEASURE_NS / 4); /* Warms up. */
        forget_trips();
        double start_ns = stopwatch_now_ns();
        double cpu_ns = server_cpu_ns();
        exchange(epoll, start_ns + MEASURE_NS);
        ret_sample->rate = (double)trips / ((stopwatch_now_ns() - start_ns) / 1e9);
        ret_sample->cpu_us = (server_cpu_ns() - cpu_ns) / (double)trips / 1e3;
        ret_sample->p50_us = percentile_us(50);
        ret_sample->p99_us = percentile_us(99);
    }
    hang_up(what->connections);
    (void)close(epoll);
    return called && trips > 0;
}

/* `connections` connections are open at a time; each is reset after its message. */
static bool
measure_accept(const struct measurement *what, struct sample *ret_sample)
{
    double start_ns = stopwatch_now_ns();
    double cpu_ns = server_cpu_ns();
    forget_trips();
    while (stopwatch_now_ns() < start_ns + MEASURE_NS) {
        double began_ns = stopwatch_now_ns();
        for (int i = 0; i < what->connections; i++) {
            clients[i].fd = connect_to(true);
            if (clients[i].fd < 0 || !send_message(&clients[i])) {
                perror("connect");
                return false;
            }
        }
        for (int i = 0; i < what->connections; i++) {
            char buffer[MESSAGE];
            if (recv(clients[i].fd, buffer, MESSAGE, MSG_WAITALL) != MESSAGE) {
                return false;
            }
            reset(clients[i].fd);
            count_trip(stopwatch_now_ns() - began_ns);
        }
    }
    ret_sample->rate = (double)trips / ((stopwatch_now_ns() - start_ns) / 1e9);
    ret_sample->cpu_us = (server_cpu_ns() - cpu_ns) / (double)trips / 1e3;
    ret_sample->p50_us = percentile_us(50);
    ret_sample->p99_us = percentile_us(99);
    return true;
}

/* A latency as wrk prints it, "1.23ms", in us. */
static double
wrk_us(const char *text)
{
    char unit[8] = "";
    double value = 0;
    (void)sscanf(text, "%lf%7s", &value, unit);
    return strcmp(unit, "us") == 0 ? value : strcmp(unit, "ms") == 0 ? value * 1e3 : value * 1e6;
}

static bool
measure_http(const struct measurement *what, struct sample *ret_sample)
{
    char line[256];
    (void)snprintf(line, sizeof(line),
            "timeout %d wrk -t1 -c%d -d1s --latency http://127.0.0.1:%d/ 2>&1", LIMIT_S,
            what->connections, port);
    double cpu_ns = server_cpu_ns();
    double requests = 0;
    FILE *wrk = popen(line, "r");
    while (wrk != NULL && fgets(line, sizeof(line), wrk) != NULL) {
        char value[32];
        (void)sscanf(line, " %lf requests in", &requests);
        (void)sscanf(line, "Requests/sec: %lf", &ret_sample->rate);
        ret_sample->p50_us =
                sscanf(line, " 50%% %31s", value) == 1 ? wrk_us(value) : ret_sample->p50_us;
        ret_sample->p99_us =
                sscanf(line, " 99%% %31s", value) == 1 ? wrk_us(value) : ret_sample->p99_us;
    }
    ret_sample->cpu_us = (server_cpu_ns() - cpu_ns) / requests / 1e3;
    return wrk != NULL && pclose(wrk) == 0 && requests > 0;
}

static const struct measurement measurements[] = {
        {"echo, 1 connection", "echo", 1, measure_echo},
        {"echo, 64 connections", "echo", 64, measure_echo},
        {"echo, 1,000 connections", "echo", 1000, measure_echo},
        {"echo, 10,000 connections", "echo", 10000, measure_echo},
        {"echo with a timeout a message, 64 connections", "timeouts", 64, measure_echo},
        {"accept, 64 at a time", "echo", 64, measure_accept},
        {"http, wrk with 64 connections", "http", 64, measure_http},
};
#define MEASUREMENTS (sizeof(measurements) / sizeof(measurements[0]))

/* ---- The tables. ----------------------------------------------------------------------------- */

static struct sample samples[SERVERS][ROUNDS_MAX];

static struct stopwatch_figure
figure_of(size_t server, uint32_t rounds, size_t offset)
{
    double values[ROUNDS_MAX];
    for (uint32_t i = 0; i < rounds; i++) {
        memcpy(&values[i], (const char *)&samples[server][i] + offset, sizeof(values[i]));
    }
    return stopwatch_figure(values, rounds);
}

#define FIGURE(server, field) figure_of((server), rounds, offsetof(struct sample, field))

/* The second of rate and of CPU is the best round's: what the program does where nothing else wants
 * the processor. */
static void
print_row(size_t server, uint32_t rounds)
{
    struct stopwatch_figure rate = FIGURE(server, rate);
    struct stopwatch_figure cpu = FIGURE(server, cpu_us);
    (void)printf("  %-17s %8.0f %5.2f %8.0f  %9.1f %9.1f  %7.2f %7.2f  %6.0f\n",
            servers[server].name, rate.median, rate.median / FIGURE(0, rate).median, rate.high,
            FIGURE(server, p50_us).median, FIGURE(server, p99_us).median, cpu.median, cpu.low,
            FIGURE(server, bytes).median);
}

static bool
run_once(const struct measurement *what, const struct server *server, struct sample *ret_sample)
{
    if (access(program_of(server), X_OK) != 0 || !start_server(server, what->mode)) {
        return false;
    }
    bool measured = what->measure(what, ret_sample);
    stop_server();
    return measured;
}

static void
print_table(const struct measurement *what, uint32_t rounds)
{
    bool ok[SERVERS];
    memset(samples, 0, sizeof(samples));
    memset(ok, 1, sizeof(ok));
    for (uint32_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < SERVERS; i++) {
            ok[i] = ok[i] && run_once(what, &servers[i], &samples[i][round]);
        }
    }
    (void)printf("\n%s\n  %-17s %8s %5s %8s  %9s %9s  %7s %7s  %6s\n", what->name, "", "a second",
            "x raw", "best", "p50 us", "p99 us", "CPU us", "best", "bytes");
    for (size_t i = 0; i < SERVERS; i++) {
        if (ok[i]) {
            print_row(i, rounds);
        } else {
            bool built = access(program_of(&servers[i]), X_OK) == 0;
            (void)printf("  %-18s %s%s\n", servers[i].name,
                    built ? "did not run here" : "not built, its package is missing: ",
                    built ? "" : servers[i].missing);
        }
    }
    (void)fflush(stdout);
}

int
main(int argc, char **argv)
{
    uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 9;
    struct rlimit files = {CONNECTIONS_MAX + 100, CONNECTIONS_MAX + 100};
    struct rlimit now;
    (void)signal(SIGPIPE, SIG_IGN);
    if (rounds == 0 || rounds > ROUNDS_MAX) {
        (void)fprintf(
                stderr, "usage: bench-host [ROUNDS, at most %d [FIRST [LAST]]]\n", ROUNDS_MAX);
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur < files.rlim_cur &&
            setrlimit(RLIMIT_NOFILE, &files) != 0) {
        (void)fprintf(stderr, "bench-host: 10,000 connections need `ulimit -n %d`\n",
                CONNECTIONS_MAX + 100);
        return 2;
    }
    (void)snprintf(folder, sizeof(folder), "%s", argv[0]);
    (void)dirname(folder);
    pin(1);
    (void)printf(
            "server and client on one processor each; medians of %u alternating rounds\n", rounds);
    size_t first = argc > 2 ? (size_t)atoi(argv[2]) : 0;
    size_t last = argc > 3 ? (size_t)atoi(argv[3]) : MEASUREMENTS - 1;
    for (size_t i = first; i <= last && i < MEASUREMENTS; i++) {
        print_table(&measurements[i], rounds);
    }
    return 0;
}

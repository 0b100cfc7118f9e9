/*
 * http_main.c -- serves HTTP/1.1 until SIGTERM or SIGINT.
 *
 *      http [--connections N] [--idle SECONDS] [--request SECONDS] [--drain SECONDS]
 *           [--watchdog SECONDS] ADDRESS:PORT
 *
 * GET of / is "hello", POST gets its body back, every other target is 404. Prints "http: listening
 * at ADDRESS:PORT" when it does; port 0 becomes a free one. The first signal drains (http.h), the
 * second cuts all connections off. --watchdog: tasks that were blocked so long are polled once
 * more, and one that had lost its wake is reported on stderr (watchdog.h).
 *
 * Status: 0 ended by a signal, 1 the system refused something, 2 an argument is wrong. The last two
 * with one line on stderr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "runtime/host/epoll.h"
#include "runtime/host/machine.h"
#include "runtime/host/programs/limit.h"
#include "runtime/host/watchdog.h"
#include "runtime/programs/http.h"

#define USAGE \
    "usage: http [--connections N] [--idle SECONDS] [--request SECONDS] [--drain SECONDS] " \
    "[--watchdog SECONDS] ADDRESS:PORT"
#define BACKLOG 4096u
#define SPARE 16u /* Tasks and descriptors besides the connections'. */

struct options {
    struct rt_net_address address;
    unsigned connections;
    unsigned idle_s;
    unsigned request_s;
    unsigned drain_s;
    unsigned watchdog_s; /* 0: none. */
};

struct program {
    struct options options;
    struct rt_epoll epoll;
    struct rt_machine machine;
    struct http_server server;
    struct http_connection *connections;
    struct rt_task signals;
    struct rt_pollable arrived;
    struct rt_wait wait;
    int signalfd;
    struct rt_watchdog watchdog;
    struct rt_watchdog_seen *seen;
};

static int
fail(int status, const char *what, const char *why)
{
    (void)fprintf(stderr, "http: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    return status;
}

static int
fail_by(const struct rt_failure *failure, const struct rt_net_address *address)
{
    char text[256];
    return fail(1, rt_failure_text(failure, address, text, sizeof(text)), "");
}

/* ---- What it serves. ------------------------------------------------------------------------- */

static void
handle(void *argument, const struct http_request *request, struct http_response *response)
{
    static const char hello[] = "hello\n";
    static const char missing[] = "nothing is here\n";
    (void)argument;
    if (!http_text_is(request->target, "/")) {
        response->status = 404;
        response->body = (struct http_text){missing, sizeof(missing) - 1};
    } else if (http_text_is(request->method, "POST")) {
        response->type = "application/octet-stream";
        response->body = request->body;
    } else {
        response->body = (struct http_text){hello, sizeof(hello) - 1};
    }
}

static void
on_lost_wake(void *argument, const struct rt_watchdog_report *report)
{
    char text[1024];
    (void)argument;
    rt_watchdog_describe(report, text, sizeof(text));
    (void)fprintf(stderr, "http: %s\n", text);
}

/* ---- Signals. -------------------------------------------------------------------------------- */

static rt_poll
signals_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, signals);
    struct signalfd_siginfo info;
    for (;;) {
        RT_AWAIT(rt_wait_for(&program->wait, &program->arrived, cx));
        if (read(program->signalfd, &info, sizeof(info)) != sizeof(info)) {
            continue;
        }
        if (program->server.draining) {
            rt_task_cancel(&program->server.task);
        }
        http_drain(&program->server);
    }
}

static void
signals_cleanup(struct rt_task *task)
{
    struct program *program = rt_container_of(task, struct program, signals);
    rt_wait_cancel(&program->wait);
    rt_pollable_drop(&program->arrived);
}

static rt_err
start_signals(struct program *program)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    rt_assert(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    program->signalfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (program->signalfd < 0) {
        return rt_failed(&program->epoll.base.failure, "signalfd");
    }
    rt_wait_init(&program->wait);
    rt_task_init(&program->signals, signals_poll, signals_cleanup, "signals");
    program->signals.background = true;
    rt_err err = rt_epoll_subscribe(
            &program->epoll, program->signalfd, RT_DESCRIPTOR_READABLE, &program->arrived);
    return err == RT_OK ? rt_post(&program->machine.runtime.executor, &program->signals) : err;
}

/* ---- Arguments. ------------------------------------------------------------------------------ */

/* `text` as a number from 1 to a million. */
static bool
parse_number(const char *text, unsigned *ret_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = text != NULL ? strtoul(text, &end, 10) : 0;
    if (number == 0 || number > 1000000 || errno != 0 || *end != '\0' || text[0] < '0' ||
            text[0] > '9') {
        return false;
    }
    *ret_number = (unsigned)number;
    return true;
}

static unsigned *
find_option(struct options *options, const char *name)
{
    const struct {
        const char *name;
        unsigned *value;
    } known[] = {
            {"--connections", &options->connections},
            {"--idle", &options->idle_s},
            {"--request", &options->request_s},
            {"--drain", &options->drain_s},
            {"--watchdog", &options->watchdog_s},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].value;
        }
    }
    return NULL;
}

static int
parse(int argc, char **argv, struct options *options)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i += 2) {
        unsigned *value = find_option(options, argv[i]);
        if (value == NULL) {
            return fail(2, "no such option", argv[i]);
        }
        if (!parse_number(argv[i + 1], value)) { /* argv ends with NULL. */
            return fail(2, argv[i], "takes a number from 1 to 1000000");
        }
    }
    if (i + 1 != argc) {
        return fail(2, USAGE, "");
    }
    if (rt_address_parse(argv[i], &options->address) != RT_OK) {
        return fail(2, argv[i], "no address and port: 127.0.0.1:80 or [::1]:80");
    }
    return 0;
}

/* ---- The system. ----------------------------------------------------------------------------- */

static int
raise_limit(const struct options *options)
{
    char text[256];
    bool raised = limit_raise(options->connections, SPARE, text, sizeof(text));
    return raised ? 0 : fail(1, text, "");
}

static rt_err
start_server(struct program *program)
{
    const struct options *options = &program->options;
    struct http_config config = {
            .runtime = &program->machine.runtime,
            .address = options->address,
            .backlog = BACKLOG,
            .connections = program->connections,
            .capacity = options->connections,
            .idle_ns = options->idle_s * RT_SECOND,
            .request_ns = options->request_s * RT_SECOND,
            .drain_ns = options->drain_s * RT_SECOND,
            .handle = handle,
    };
    return http_start(&program->server, &config);
}

static rt_err
start_watchdog(struct program *program)
{
    struct rt_watchdog_config config = {
            .runtime = &program->machine.runtime,
            .idle_ns = program->options.watchdog_s * RT_SECOND,
            .seen = program->seen,
            .report = on_lost_wake,
    };
    return program->seen == NULL ? RT_OK : rt_watchdog_start(&program->watchdog, &config);
}

/* Until the server has ended. */
static int
serve(struct program *program)
{
    char text[RT_ADDRESS_TEXT];
    struct rt_net_address *address = &program->options.address;
    rt_err err = rt_socket_address(
            program->server.listener.source.socket, &program->epoll.base.failure, address);
    if (err == RT_OK) {
        (void)printf("http: listening at %s\n", rt_address_text(address, text));
        (void)fflush(stdout);
        err = rt_run_to_completion(&program->machine.runtime);
    }
    return err == RT_OK ? 0 : fail_by(&program->epoll.base.failure, NULL);
}

static int
with_machine(struct program *program)
{
    rt_err err = start_server(program);
    if (err != RT_OK) {
        return fail_by(&program->epoll.base.failure, &program->options.address);
    }
    err = start_signals(program);
    err = err == RT_OK ? start_watchdog(program) : err;
    int status = err == RT_OK ? serve(program) : fail_by(&program->epoll.base.failure, NULL);
    if (program->seen != NULL) {
        rt_watchdog_stop(&program->watchdog);
    }
    rt_terminate(&program->machine.runtime.executor);
    rt_socket_close(program->signalfd);
    return status;
}

static int
with_memory(struct program *program)
{
    unsigned capacity = program->options.connections + SPARE;
    struct rt_machine_config config = {.host = &program->epoll.base.host,
            .net = &program->epoll.base.net,
            .tasks = capacity,
            .sockets = capacity,
            .task_quota_ns = RT_NEVER};
    program->connections = calloc(program->options.connections, sizeof(*program->connections));
    if (program->options.watchdog_s > 0) {
        program->seen = calloc(capacity, sizeof(*program->seen));
    }
    if (program->connections == NULL || rt_machine_init(&program->machine, &config) != RT_OK) {
        return fail(1, "memory for connections", "there is not enough");
    }
    int status = with_machine(program);
    rt_machine_fini(&program->machine);
    return status;
}

int
main(int argc, char **argv)
{
    static struct program program = {.options = {.connections = 1000}};
    int status = parse(argc, argv, &program.options);
    status = status != 0 ? status : raise_limit(&program.options);
    if (status != 0) {
        return status;
    }
    if (rt_epoll_init(&program.epoll, NULL) != RT_OK) {
        return fail_by(&program.epoll.base.failure, NULL);
    }
    status = with_memory(&program);
    rt_epoll_fini(&program.epoll);
    free(program.connections);
    free(program.seen);
    return status;
}

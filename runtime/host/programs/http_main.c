/*
 * http_main.c -- serves HTTP/1.1 until SIGTERM or SIGINT.
 *
 *      http [--connections N] [--idle SECONDS] [--request SECONDS] [--drain SECONDS]
 *           [--watchdog SECONDS] [--host epoll|io_uring] ADDRESS:PORT
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

#include "runtime/base/assert.h"
#include "runtime/host/machine.h"
#include "runtime/host/programs/kind.h"
#include "runtime/host/programs/limit.h"
#include "runtime/host/signals.h"
#include "runtime/host/watchdog.h"
#include "runtime/programs/http.h"

#define USAGE \
    "usage: http [--connections N] [--idle SECONDS] [--request SECONDS] [--drain SECONDS] " \
    "[--watchdog SECONDS] [--host epoll|io_uring] ADDRESS:PORT"
#define BACKLOG 4096u
#define SPARE 16u /* Tasks and descriptors besides the connections'. */

struct options {
    struct rt_net_address address;
    unsigned connections;
    unsigned idle_s;
    unsigned request_s;
    unsigned drain_s;
    unsigned watchdog_s; /* 0: none. */
    const struct rt_linux_kind *kind;
};

struct program {
    struct options options;
    struct rt_linux *host;
    struct rt_machine machine;
    struct http_server server;
    struct http_connection *connections;
    struct rt_signals signals;
    struct rt_task listener; /* For signals. */
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
listener_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, listener);
    int number = 0;
    while (rt_signals_poll(&program->signals, cx, &number) == RT_READY) {
        if (program->server.draining) {
            rt_task_cancel(&program->server.task);
        }
        http_drain(&program->server);
    }
    return RT_PENDING;
}

static void
listener_cleanup(struct rt_task *task)
{
    struct program *program = rt_container_of(task, struct program, listener);
    rt_wait_cancel(&program->signals.wait);
}

static rt_err
start_signals(struct program *program)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    rt_err err = rt_signals_init(&program->signals, program->host, numbers, 2);
    if (err != RT_OK) {
        return err;
    }
    rt_task_init(&program->listener, listener_poll, listener_cleanup, "signals");
    program->listener.background = true;
    err = rt_post(&program->machine.runtime.executor, &program->listener);
    rt_assert(err == RT_OK);
    return RT_OK;
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
        const char *why;
        if (strcmp(argv[i], "--host") == 0) {
            options->kind = kind_named(argv[i + 1], &why); /* argv ends with NULL. */
            if (options->kind == NULL) {
                return fail(2, argv[i], why);
            }
            continue;
        }
        unsigned *value = find_option(options, argv[i]);
        if (value == NULL) {
            return fail(2, "no such option", argv[i]);
        }
        if (!parse_number(argv[i + 1], value)) {
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
            program->server.listener.source.socket, &program->host->failure, address);
    if (err == RT_OK) {
        (void)printf("http: listening at %s\n", rt_address_text(address, text));
        (void)fflush(stdout);
        err = rt_run_to_completion(&program->machine.runtime);
    }
    return err == RT_OK ? 0 : fail_by(&program->host->failure, NULL);
}

static int
with_signals(struct program *program)
{
    rt_err err = start_watchdog(program);
    int status = err == RT_OK ? serve(program) : fail_by(&program->host->failure, NULL);
    if (program->seen != NULL) {
        rt_watchdog_stop(&program->watchdog);
    }
    rt_terminate(&program->machine.runtime.executor);
    rt_signals_fini(&program->signals);
    return status;
}

static int
with_machine(struct program *program)
{
    if (start_signals(program) != RT_OK) {
        return fail_by(&program->host->failure, NULL);
    }
    if (start_server(program) != RT_OK) {
        rt_terminate(&program->machine.runtime.executor);
        rt_signals_fini(&program->signals);
        return fail_by(&program->host->failure, &program->options.address);
    }
    return with_signals(program);
}

static int
with_memory(struct program *program)
{
    unsigned capacity = program->options.connections + SPARE;
    struct rt_machine_config config = {.host = &program->host->host,
            .net = &program->host->net,
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
    static struct program program = {.options = {.connections = 1000, .kind = &rt_epoll_kind}};
    struct rt_failure failure = {NULL, 0};
    int status = parse(argc, argv, &program.options);
    status = status != 0 ? status : raise_limit(&program.options);
    if (status != 0) {
        return status;
    }
    if (program.options.kind->make(false, &failure, &program.host) != RT_OK) {
        return fail_by(&failure, NULL);
    }
    status = with_memory(&program);
    program.options.kind->end(program.host);
    free(program.connections);
    free(program.seen);
    return status;
}

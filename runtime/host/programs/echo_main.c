/*
 * echo_main.c -- serves TCP echo on each core until SIGTERM or SIGINT.
 *
 *      echo [--cores N] [--connections N] [--drain SECONDS] [--host epoll|io_uring] ADDRESS:PORT
 *
 * Prints "echo: listening at ADDRESS:PORT" when it does; port 0 becomes a free one. The first
 * signal closes the listeners and waits for the connections, --drain at most; the second one cuts
 * them off.
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
#include "runtime/host/cores.h"
#include "runtime/host/programs/kind.h"
#include "runtime/host/programs/limit.h"
#include "runtime/host/signals.h"
#include "runtime/programs/echo.h"
#include "runtime/shard/submit.h"

#define USAGE \
    "usage: echo [--cores N] [--connections N] [--drain SECONDS] [--host epoll|io_uring] " \
    "ADDRESS:PORT"
#define CORES_MAX 256u
#define CONNECTIONS_MAX 1000000u
#define DRAIN_MAX 86400u
#define BACKLOG 4096u
#define LINE_MAX_SIZE 256u
#define SPARE_DESCRIPTORS 64u /* Standard streams, epoll, eventfd, listeners … */

/* What runs on one core. */
struct site {
    struct echo_server server;
    struct echo_connection *connections;
    struct rt_submit drain; /* From core 0, at the first signal: answered when the server ended. */
    struct rt_submit cut;   /* At the second one. */
    struct rt_task drainer; /* Answers `drain`. */
};

struct options {
    struct rt_net_address address;
    unsigned cores;
    unsigned connections; /* Of all cores. */
    unsigned drain_s;
    const struct rt_linux_kind *kind;
};

struct program {
    struct options options;
    struct rt_cores cores;
    struct site *sites;
    struct rt_signals signals;
    struct rt_task listener; /* For signals; on core 0. */
    unsigned heard;
};

static int
fail(int status, const char *what, const char *why)
{
    (void)fprintf(stderr, "echo: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    return status;
}

static int
fail_by(const struct rt_failure *failure, const struct rt_net_address *address)
{
    char text[LINE_MAX_SIZE];
    return fail(1, rt_failure_text(failure, address, text, sizeof(text)), "");
}

/* ---- A core. --------------------------------------------------------------------------------- */

/* One line for what is worth one; the end of a client is not. */
static void
report(void *argument, rt_err err, const struct rt_net_address *peer)
{
    const struct rt_core *core = argument;
    char text[LINE_MAX_SIZE];
    if (peer == NULL) {
        (void)fail_by(&core->host->failure, NULL);
    } else if (err == RT_E_SYSTEM) {
        (void)fail(0, rt_failure_text(&core->host->failure, peer, text, sizeof(text)), "");
    }
}

static rt_err
begin(struct rt_core *core, void *argument)
{
    struct program *program = argument;
    struct site *site = &program->sites[core->number];
    unsigned capacity = program->options.connections / core->cores->count;
    core->data = site;
    struct echo_config config = {
            .runtime = &core->machine.runtime,
            .address = program->options.address,
            .backlog = BACKLOG,
            .connections = site->connections,
            .capacity = capacity > 0 ? capacity : 1,
            .drain_ns = program->options.drain_s * RT_SECOND,
            .report = report,
            .argument = core,
    };
    return echo_start(&site->server, &config);
}

/* Signals are waited for by core 0, so their wait ends on its thread. */
static void
end(struct rt_core *core, void *argument)
{
    struct program *program = argument;
    if (core->number == 0) {
        rt_signals_fini(&program->signals);
    }
}

/* ---- The end. -------------------------------------------------------------------------------- */

static rt_poll
drainer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct site *site = rt_container_of(task, struct site, drainer);
    if (!echo_is_over(&site->server)) {
        RT_AWAIT(rt_task_join(&site->server.task, cx));
    }
    return RT_READY;
}

/* Ended or cancelled: the message returns in any case (X7). */
static void
drainer_cleanup(struct rt_task *task)
{
    struct site *site = rt_container_of(task, struct site, drainer);
    struct echo_server *server = &site->server;
    struct rt_core *core = server->config.argument;
    rt_message_answer(&site->drain.message, &core->shard, RT_OK);
}

static void
drain(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct site *site = rt_container_of(submit, struct site, drain);
    echo_drain(&site->server);
    rt_task_init(&site->drainer, drainer_poll, drainer_cleanup, "drainer");
    site->drainer.background = true;
    if (rt_post(&shard->runtime->executor, &site->drainer) != RT_OK) {
        rt_message_answer(message, shard, RT_E_FULL);
    }
}

/* Cancels the server, and with it the connections. */
static void
cut_off(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct site *site = rt_container_of(submit, struct site, cut);
    rt_task_cancel(&site->server.task);
    rt_message_answer(message, shard, RT_OK);
}

static void
send_everywhere(struct program *program)
{
    struct rt_shard *first = &program->cores.all[0].shard;
    for (uint32_t i = 0; i < program->cores.count; i++) {
        if (program->heard == 1) {
            rt_submit_to(&program->sites[i].drain, first, i, drain);
        } else if (program->heard == 2) {
            rt_submit_to(&program->sites[i].cut, first, i, cut_off);
        }
    }
}

static rt_poll
await_call(struct rt_submit *submit, struct rt_cx *cx)
{
    return rt_submit_is_over(submit) ? RT_READY : rt_future_poll(&submit->future, cx);
}

static rt_poll
await_everywhere(struct program *program, struct rt_cx *cx)
{
    for (uint32_t i = 0; i < program->cores.count; i++) {
        RT_AWAIT(await_call(&program->sites[i].drain, cx));
        if (program->heard > 1) {
            RT_AWAIT(await_call(&program->sites[i].cut, cx));
        }
    }
    return RT_READY;
}

static rt_poll
listener_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, listener);
    int number = 0;
    while (rt_signals_poll(&program->signals, cx, &number) == RT_READY) {
        program->heard++;
        send_everywhere(program);
    }
    if (program->heard == 0) {
        return RT_PENDING;
    }
    RT_AWAIT(await_everywhere(program, cx));
    rt_cores_close(&program->cores);
    return RT_READY;
}

static void
listener_cleanup(struct rt_task *task)
{
    struct program *program = rt_container_of(task, struct program, listener);
    rt_wait_cancel(&program->signals.wait);
}

/* ---- Arguments. ------------------------------------------------------------------------------ */

/* `text` as a number of 1 to `max`. */
static bool
parse_number(const char *text, unsigned max, unsigned *ret_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number == 0 ||
            number > max) {
        return false;
    }
    *ret_number = (unsigned)number;
    return true;
}

struct number_option {
    const char *name;
    unsigned max;
    unsigned *value;
};

/* 0, or the status to end with. */
static int
parse_number_option(
        const struct number_option *known, size_t count, const char *name, const char *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i].name, name) == 0) {
            if (value != NULL && parse_number(value, known[i].max, known[i].value)) {
                return 0;
            }
            char text[LINE_MAX_SIZE];
            (void)snprintf(text, sizeof(text), "takes a number from 1 to %u", known[i].max);
            return fail(2, name, text);
        }
    }
    return fail(2, "no such option", name);
}

static int
parse(int argc, char **argv, struct options *options)
{
    const struct number_option known[] = {
            {"--cores", CORES_MAX, &options->cores},
            {"--connections", CONNECTIONS_MAX, &options->connections},
            {"--drain", DRAIN_MAX, &options->drain_s},
    };
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
        int status =
                parse_number_option(known, sizeof(known) / sizeof(known[0]), argv[i], argv[i + 1]);
        if (status != 0) {
            return status;
        }
    }
    if (i + 1 != argc) {
        return fail(2, USAGE, "");
    }
    if (rt_address_parse(argv[i], &options->address) != RT_OK) {
        return fail(2, argv[i], "no address and port: 127.0.0.1:7 or [::1]:7");
    }
    return 0;
}

/* ---- The system. ----------------------------------------------------------------------------- */

static int
raise_limit(const struct options *options)
{
    char text[LINE_MAX_SIZE];
    bool raised = limit_raise(options->connections, SPARE_DESCRIPTORS + 4 * (rlim_t)options->cores,
            text, sizeof(text));
    return raised ? 0 : fail(1, text, "");
}

/*
 * Whether the address is free, and which port 0 becomes. The listeners of the cores share it with
 * SO_REUSEPORT, and would share it with another echo server as well.
 */
static int
reserve(struct options *options)
{
    struct rt_failure failure = {NULL, 0};
    int socket = -1;
    rt_err err = rt_socket_listen(
            &options->address, (struct rt_listen_how){.backlog = 1}, &failure, &socket);
    if (err != RT_OK) {
        return fail_by(&failure, &options->address);
    }
    err = rt_socket_address(socket, &failure, &options->address);
    rt_assert(err == RT_OK);
    rt_socket_close(socket);
    return 0;
}

static bool
allocate_sites(struct program *program)
{
    unsigned each = program->options.connections / program->cores.count;
    program->sites = calloc(program->cores.count, sizeof(program->sites[0]));
    for (uint32_t i = 0; program->sites != NULL && i < program->cores.count; i++) {
        struct site *site = &program->sites[i];
        site->connections = calloc(each > 0 ? each : 1, sizeof(site->connections[0]));
        if (site->connections == NULL) {
            return false;
        }
    }
    return program->sites != NULL;
}

static void
free_sites(struct program *program)
{
    for (uint32_t i = 0; program->sites != NULL && i < program->cores.count; i++) {
        free(program->sites[i].connections);
    }
    free(program->sites);
}

/* Runs until a signal. */
static int
serve(struct program *program)
{
    char text[RT_ADDRESS_TEXT];
    struct rt_core *first = &program->cores.all[0];
    rt_task_init(&program->listener, listener_poll, listener_cleanup, "signals");
    rt_err err = rt_post(&first->machine.runtime.executor, &program->listener);
    rt_assert(err == RT_OK);
    if (rt_cores_start(&program->cores) != RT_OK) {
        rt_task_cancel(&program->listener);
        rt_signals_fini(&program->signals);
        return fail_by(&program->cores.failure, NULL);
    }
    (void)printf("echo: listening at %s\n", rt_address_text(&program->options.address, text));
    (void)fflush(stdout);
    if (rt_cores_join(&program->cores) != RT_OK) {
        return fail_by(&program->cores.failure, &program->options.address);
    }
    return 0;
}

static int
with_signals(struct program *program)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    struct rt_linux *host = program->cores.all[0].host;
    if (!allocate_sites(program)) {
        return fail(1, "memory for connections", "there is not enough");
    }
    if (rt_signals_init(&program->signals, host, numbers, 2) != RT_OK) {
        return fail_by(&host->failure, NULL);
    }
    return serve(program);
}

static int
with_cores(struct program *program)
{
    unsigned each = program->options.connections / program->options.cores + 1;
    struct rt_cores_config config = {.kind = program->options.kind,
            .count = program->options.cores,
            .tasks = each + 8,
            .sockets = each + 8,
            .task_quota_ns = RT_NEVER,
            .begin = begin,
            .end = end,
            .argument = program};
    if (rt_cores_init(&program->cores, &config) != RT_OK) {
        return fail_by(&program->cores.failure, NULL);
    }
    int status = with_signals(program);
    free_sites(program);
    rt_cores_fini(&program->cores);
    return status;
}

int
main(int argc, char **argv)
{
    struct program program = {.options = {.cores = rt_processors(),
                                      .connections = 10000,
                                      .drain_s = 5,
                                      .kind = &rt_epoll_kind}};
    int status = parse(argc, argv, &program.options);
    status = status != 0 ? status : raise_limit(&program.options);
    status = status != 0 ? status : reserve(&program.options);
    return status != 0 ? status : with_cores(&program);
}

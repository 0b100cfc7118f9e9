/*
 * cli.c -- finds the command, its options and its library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/cli.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/build.h"
#include "sim/base/heap.h"
#include "sim/base/nearest.h"
#include "sim/base/terminal.h"
#include "sim/cli/child.h"
#include "sim/posix/guard.h"
#include "sim/program/program.h"

/* The handler of SIGPIPE when the program began. */
static void (*on_pipe)(int) = SIG_DFL;
static const char *command_name = "";
static char **command_line; /* Of the command line. */

extern const struct sim_command *const __start_rewake_commands[];
extern const struct sim_command *const __stop_rewake_commands[];

/* One line, whatever control characters a file name or a library's message has. */
__attribute__((format(printf, 2, 0))) static void
print_line(const char *kind, const char *format, va_list arguments)
{
    char line[1024];
    (void)vsnprintf(line, sizeof(line), format, arguments);
    for (char *c = line; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
    }
    (void)fflush(stdout);
    (void)fprintf(stderr, "rewake%s%s: %s%s\n", *command_name != '\0' ? " " : "", command_name,
            kind, line);
}

int
sim_cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("", format, arguments);
    va_end(arguments);
    return status;
}

void
sim_cli_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", format, arguments);
    va_end(arguments);
}

FILE *
sim_cli_create(const char *path, const char *advice, int *ret_status)
{
    FILE *file = fopen(path, "wxe");
    *ret_status = 0;
    if (file == NULL && errno == EEXIST) {
        *ret_status =
                sim_cli_fail(SIM_EXIT_USAGE, "%s exists, and is not overwritten: %s", path, advice);
    } else if (file == NULL) {
        *ret_status =
                sim_cli_fail(SIM_EXIT_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    }
    return file;
}

int
sim_cli_close(FILE *file, const char *path, bool written)
{
    int error = errno;
    if (fclose(file) != 0) {
        written = false;
        error = errno;
    }
    return written ? 0
                   : sim_cli_fail(
                             SIM_EXIT_SYSTEM, "%s cannot be written: %s", path, strerror(error));
}

const struct sim_command *
sim_cli_find_command(const char *name)
{
    struct sim_nearest nearest = {.word = name};
    char hint[SIM_NEAREST_HINT_MAX];
    for (const struct sim_command *const *each = __start_rewake_commands;
            each != __stop_rewake_commands; each++) {
        if (strcmp((*each)->name, name) == 0) {
            return *each;
        }
        sim_nearest_try(&nearest, (*each)->name, (*each)->name);
    }
    (void)sim_cli_fail(SIM_EXIT_USAGE, "there is no command '%s'%s (rewake help lists them)", name,
            sim_nearest_hint(&nearest, hint));
    return NULL;
}

const struct sim_command *
sim_cli_next_command(const char *name)
{
    const struct sim_command *next = NULL;
    for (const struct sim_command *const *each = __start_rewake_commands;
            each != __stop_rewake_commands; each++) {
        if (strcmp((*each)->name, name) > 0 &&
                (next == NULL || strcmp((*each)->name, next->name) < 0)) {
            next = *each;
        }
    }
    return next;
}

void
sim_cli_each_command(void (*put)(const struct sim_command *command))
{
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        put(each);
    }
}

static void
help_group(enum sim_purpose purpose)
{
    static const char *const titles[SIM_PURPOSES] = {
            [SIM_PURPOSE_FIND] = "Find a bug",
            [SIM_PURPOSE_UNDERSTAND] = "Understand a run",
            [SIM_PURPOSE_KEEP] = "Make it small, and keep it",
            [SIM_PURPOSE_SHARE] = "Share what was found",
            [SIM_PURPOSE_DATA] = "Data, and rewake itself",
    };
    (void)printf("\n%s:\n", titles[purpose]);
    for (const struct sim_command *each = sim_cli_next_command(""); each != NULL;
            each = sim_cli_next_command(each->name)) {
        if (each->purpose == purpose) {
            (void)printf("  rewake %-10s ", each->name);
            sim_print_folded(each->about, 20, 20);
        }
    }
}

static void
help(void)
{
    (void)printf("usage: rewake COMMAND [ARGUMENTS]\n\n"
                 "Finds, explains and replays lost wake-ups in threads and async runtimes.\n"
                 "Begin with `rewake run ./prog`, or with `rewake init DIR`.\n");
    for (uint32_t i = 0; i < SIM_PURPOSES; i++) {
        help_group((enum sim_purpose)i);
    }
    (void)putchar('\n');
    sim_print_paragraphs("`rewake help COMMAND` has the options. Exit status: 0 all passed, 1 a "
                         "bug was found, "
                         "2 usage, 3 a replay differs, 4 nothing matched, 5 fewer runs than asked "
                         "for, 70 rewake "
                         "or its database failed, 125 this build cannot judge the token, or "
                         "refused a program.\n");
}

/* Whether the file begins as a program or a script does. */
bool
sim_cli_can_execute(const char *path)
{
    char head[4] = "";
    FILE *file = fopen(path, "re");
    size_t read = file != NULL ? fread(head, 1, sizeof(head), file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return read == sizeof(head) &&
           (memcmp(head, ELFMAG, SELFMAG) == 0 || memcmp(head, "#!", 2) == 0);
}

/* A program is named with a slash, as for a shell. No name of a scenario begins as a path does: one
 * that names nothing is a program that is not there, and a file of another kind may be a run. */
bool
sim_cli_is_library(const char *argument)
{
    const char *dot = strstr(argument, ".so");
    const char *slash = strchr(argument, '/');
    bool library = dot != NULL && (dot[3] == '\0' || dot[3] == '.');
    bool path = slash != NULL && (slash == argument || argument[0] == '.');
    bool missing = path && access(argument, F_OK) != 0;
    bool program = slash != NULL && sim_cli_can_execute(argument);
    return strchr(argument, ':') == NULL && (library || missing || program);
}

/* A library comes first. */
static int
refuse_libraries(const struct sim_cli *cli)
{
    for (uint32_t i = 0; i < cli->count; i++) {
        if (sim_cli_is_library(cli->arguments[i])) {
            return sim_cli_fail(SIM_EXIT_USAGE, "%s: %s", cli->arguments[i],
                    cli->library != NULL
                            ? "only one library at a time; run the command once for each"
                            : "give the library before all other arguments");
        }
    }
    return 0;
}

/*
 * A program may hash addresses: it is loaded into a process whose addresses are the same each time.
 * Becomes such a process, with the same command line, unless this is one. Returns where the system
 * forbids that; then only runs of one process have the same addresses.
 */
static void
fix_addresses(void)
{
    int persona = personality(0xffffffff);
    const char *self = sim_child_self();
    if (persona < 0 || (persona & ADDR_NO_RANDOMIZE) != 0) {
        return;
    }
    if (self == NULL || personality((unsigned)persona | ADDR_NO_RANDOMIZE) < 0) {
        sim_cli_warn("this system randomizes addresses and does not let rewake switch that off: a "
                     "program that depends on addresses has other runs each time");
        return;
    }
    (void)signal(SIGPIPE, on_pipe);
    /* For libraries whose thread-locals lie at fixed offsets, such as jemalloc. */
    (void)setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=65536", 0);
    (void)execv(self, command_line);
    sim_cli_warn("rewake cannot start itself with fixed addresses: %s", strerror(errno));
}

/* The workers make runs without it. */
static void
look_for_guard(void)
{
    if (!sim_guard_possible()) {
        sim_cli_warn(
                "this system does not send system calls back (Linux 5.11, x86-64): those that a "
                "program makes by itself are neither played nor refused");
    }
}

/* Moves a library that is the first argument to cli->library. */
static int
take_library(struct sim_cli *cli)
{
    if ((cli->command->takes & SIM_TAKES_LIBRARY) == 0) {
        return 0;
    }
    if (cli->count > 0 && sim_cli_is_library(cli->arguments[0])) {
        cli->library = cli->arguments[0];
        cli->arguments++;
        cli->count--;
    }
    int status = refuse_libraries(cli);
    if (status == 0 && cli->library != NULL && sim_program_is_file(cli->library)) {
        fix_addresses();
    }
    if (status == 0 && cli->library != NULL && !sim_registry_load(&cli->registry, cli->library)) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s", cli->registry.error);
    }
    if (status == 0 && sim_program_loaded() != NULL) {
        look_for_guard();
    }
    return status;
}

/* The scenario called `name` (NULL: the only one) of the library at `path`. NULL after a line. */
static const struct sim_scenario *
find_peer(struct sim_cli *cli, const char *path, const char *name)
{
    const struct sim_scenario *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cli->peers.count; i++) {
        const struct sim_entry *entry = &cli->peers.entries[i];
        bool fits = strcmp(entry->library, path) == 0 &&
                    (name == NULL || strcmp(entry->scenario->name, name) == 0);
        found = fits ? entry->scenario : found;
        count += fits;
    }
    if (count != 1) {
        (void)sim_cli_fail(SIM_EXIT_USAGE, "--peer %s: %s", path,
                name != NULL ? "the library has no scenario of that name"
                             : "the library has several scenarios: say which, as FILE.so:NAME");
        return NULL;
    }
    if (sim_scenario_params(found) > 0) {
        (void)sim_cli_fail(
                SIM_EXIT_USAGE, "--peer %s: a scenario with parameters is no peer", path);
        return NULL;
    }
    return found;
}

static bool
is_loaded(const struct sim_cli *cli, const char *path)
{
    uint32_t i = 0;
    while (i < cli->peers.count && strcmp(cli->peers.entries[i].library, path) != 0) {
        i++;
    }
    return i < cli->peers.count;
}

/* FILE.so[:NAME]; anything else is no library, and *ret stays NULL. 0, or the exit status. */
static int
load_peer(struct sim_cli *cli, const char *text, const struct sim_scenario **ret)
{
    size_t length = strcspn(text, ":");
    char *path = sim_heap_must(strndup(text, length)); /* The registry borrows it to the end. */
    *ret = NULL;
    if (!sim_cli_is_library(path)) {
        free(path);
        return 0;
    }
    if (sim_program_is_file(path)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--peer %s: this is a program; a peer is a library with a scenario", path);
    }
    if (!is_loaded(cli, path) && !sim_registry_load(&cli->peers, path)) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--peer %s", cli->peers.error);
    }
    *ret = find_peer(cli, path, text[length] == ':' ? text + length + 1 : NULL);
    return *ret != NULL ? 0 : SIM_EXIT_USAGE;
}

int
sim_cli_set_program(struct sim_cli *cli, struct sim_program_input input)
{
    const struct sim_scenario *scenarios[SIM_PEERS_MAX] = {NULL};
    const char *peer = NULL;
    int status = 0;
    for (uint32_t i = 0; i < input.peer_count && i < SIM_PEERS_MAX && status == 0; i++) {
        status = load_peer(cli, input.peers[i], &scenarios[i]);
    }
    if (status != 0) {
        return status;
    }
    input.scenarios = scenarios;
    input.environment = cli->settings.environment;
    input.environment_count = cli->settings.environment_count;
    const char *wrong = sim_program_set_input(&input, &peer);
    return wrong == NULL ? 0 : sim_cli_fail(SIM_EXIT_USAGE, "--peer '%s' %s", peer, wrong);
}

/* What follows `--` is the program's; without a program they are arguments like all others. */
static int
take_rest(struct sim_cli *cli)
{
    if (sim_program_loaded() != NULL) {
        return sim_cli_set_program(cli, (struct sim_program_input){.arguments = cli->rest,
                                                .argument_count = cli->rest_count,
                                                .peers = cli->settings.peers,
                                                .peer_count = cli->settings.peer_count});
    }
    if (cli->settings.peer_count > 0) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--peer is a client of a program, and none was given: rewake %s ./prog --peer %s",
                cli->command->name, cli->settings.peers[0]);
    }
    if (cli->rest_count > 0) {
        /* Over the `--` itself. */
        memmove(cli->arguments + cli->count, cli->rest, cli->rest_count * sizeof(*cli->rest));
        cli->count += cli->rest_count;
    }
    return 0;
}

static int
check_arguments(const struct sim_cli *cli)
{
    const struct sim_command *command = cli->command;
    rt_assert(command->arguments_min == 0 || command->missing != NULL);
    if (cli->count < command->arguments_min) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s", command->missing);
    }
    if (cli->count > command->arguments_max) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "'%s' is one argument too many (rewake %s --help has the usage)",
                cli->arguments[command->arguments_max], command->name);
    }
    return 0;
}

static int
run_command(struct sim_cli *cli)
{
    if (!sim_registry_init(&cli->registry)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", cli->registry.error);
    }
    int status = take_library(cli);
    if (status != 0) {
        return status;
    }
    status = take_rest(cli);
    status = status == 0 ? check_arguments(cli) : status;
    return status != 0 ? status : cli->command->run(cli);
}

/* Whether the reader of stdout has closed it. */
static bool
is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* A full disk is no success: all output must be written. */
static int
flush(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return status;
    }
    if (on_pipe == SIG_DFL && is_unread()) {
        return SIM_EXIT_UNREAD;
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM, "the output could not be written");
}

/* Cuts the words of the command line at `--`: what follows is the program's. Returns how many are
 * before it. */
static int
cut_rest(struct sim_cli *cli, int count, char **words)
{
    int own = 0;
    while (own < count && strcmp(words[own], "--") != 0) {
        own++;
    }
    cli->rest = words + own + 1;
    cli->rest_count = own < count ? (uint32_t)(count - own - 1) : 0;
    return own;
}

/* Reads the options among the `count` words from the name of the command on; leaves the rest in
 * cli->arguments. */
static bool
parse(struct sim_cli *cli, int count, char **words)
{
    bool others = (cli->command->takes & SIM_TAKES_COMMAND) != 0;
    int first = 1;
    if (!others || (count == 2 && strcmp(words[1], "--help") == 0)) {
        count = cut_rest(cli, count, words);
        if (!sim_cli_parse(cli->command, count, words, &cli->settings, &first)) {
            return false;
        }
    }
    cli->arguments = words + first;
    cli->count = (uint32_t)(count - first);
    return true;
}

/* `rewake help`, and `rewake help COMMAND`. */
static int
help_with(const char *name)
{
    const struct sim_command *command = name != NULL ? sim_cli_find_command(name) : NULL;
    if (name != NULL && command == NULL) {
        return SIM_EXIT_USAGE;
    }
    if (command != NULL) {
        sim_cli_help(command);
    } else {
        help();
    }
    return flush(SIM_EXIT_HELD);
}

int
sim_cli_main(int count, char **arguments)
{
    struct sim_cli cli = {.library = NULL};
    command_line = sim_heap_new((size_t)count + 1, sizeof(*command_line));
    memcpy(command_line, arguments, (size_t)count * sizeof(*command_line)); /* getopt moves them. */
    /* When its output is closed (`rewake list | head`) the program ends its work, and then dies of
     * SIGPIPE as others do: see flush, and main. Where SIGPIPE was ignored, it reports instead. */
    on_pipe = signal(SIGPIPE, SIG_IGN);
    if (count < 2) {
        help();
        return SIM_EXIT_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "help") == 0 ||
            strcmp(arguments[1], "-h") == 0) {
        return help_with(count > 2 ? arguments[2] : NULL);
    }
    if (strcmp(arguments[1], "--version") == 0) {
        (void)printf("rewake %s\n", SIM_VERSION);
        return flush(SIM_EXIT_HELD);
    }
    cli.command = sim_cli_find_command(arguments[1]);
    if (cli.command == NULL) {
        return SIM_EXIT_USAGE;
    }
    command_name = cli.command->name;
    if (!parse(&cli, count - 1, arguments + 1)) {
        return SIM_EXIT_USAGE;
    }
    if (sim_given(&cli.settings, SIM_CLI_OPTION_HELP)) {
        sim_cli_help(cli.command);
        return flush(SIM_EXIT_HELD);
    }
    int status = run_command(&cli);
    sim_registry_fini(&cli.registry);
    return flush(status);
}

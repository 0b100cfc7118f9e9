/*
 * watch.c -- `rewake watch`: starts `rewake run` whenever its library was built.
 *
 * Each run is a separate process, so that the old library is gone. Without a library, this program
 * is watched: it has the scenarios of the tree. A change during a run ends that run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/cli/child.h"
#include "sim/cli/cli.h"

/* ---- Changes of the file. -------------------------------------------------------------------- */

/* Of the file that is watched. A build removes a library, truncates it, writes it piece by piece,
 * or renames another one to it; so the folder is watched, and a change counts when the file has had
 * no event for a while and is whole. A folder that is removed (a clean build) is waited for. */
struct changes {
    char folder[PATH_MAX];
    char name[NAME_MAX + 1];
    char path[PATH_MAX + NAME_MAX + 2];
    int fd;    /* inotify's. */
    int watch; /* -1: the folder is not there. */
};

/* Time without an event. */
#define STILL_MS 150
/* So many such times in a row without a whole file. */
#define PATIENCE 20
/* Between two checks for a folder that is gone. */
#define CHECK_MS 200

#define HAPPENS \
    (IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM | \
            IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

static void
find_folder(struct changes *changes)
{
    if (changes->watch < 0) {
        changes->watch = inotify_add_watch(changes->fd, changes->folder, HAPPENS);
    }
}

/* Begins to watch the file at `path`, which need not exist. False: see errno. */
static bool
changes_init(struct changes *changes, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = snprintf(changes->folder, sizeof(changes->folder), "%.*s",
            slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    if (slash == path) {
        (void)snprintf(changes->folder, sizeof(changes->folder), "/");
    }
    if (length < 0 || (size_t)length >= sizeof(changes->folder) ||
            strlen(name) >= sizeof(changes->name)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(changes->name, name, strlen(name) + 1);
    (void)snprintf(changes->path, sizeof(changes->path), "%s/%s", changes->folder, changes->name);
    changes->watch = -1;
    changes->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (changes->fd < 0) {
        return false;
    }
    find_folder(changes);
    return true;
}

static void
changes_fini(struct changes *changes)
{
    if (changes->fd >= 0) {
        (void)close(changes->fd);
        changes->fd = -1;
    }
}

/* Takes the events in the buffer. True: one was about the file, or about the folder as a whole. */
static bool
take(struct changes *changes, const char *bytes, size_t size)
{
    bool ours = false;
    for (size_t at = 0; at + sizeof(struct inotify_event) <= size;) {
        struct inotify_event event;
        memcpy(&event, bytes + at, sizeof(event));
        const char *name = bytes + at + sizeof(event);
        bool gone = (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0;
        if (gone && changes->watch >= 0) {
            (void)inotify_rm_watch(changes->fd, changes->watch);
            changes->watch = -1;
        }
        ours = ours || gone || (event.mask & IN_Q_OVERFLOW) != 0 ||
               (event.len > 0 && strcmp(name, changes->name) == 0);
        at += sizeof(event) + event.len;
    }
    return ours;
}

static bool
read_events(struct changes *changes)
{
    char bytes[8192];
    bool ours = false;
    ssize_t got = 0;
    while ((got = read(changes->fd, bytes, sizeof(bytes))) > 0) {
        ours = take(changes, bytes, (size_t)got) || ours;
    }
    return ours;
}

/* Waits at most `timeout_ms` for an event of the file; more may follow. Ends early at a signal. */
static bool
changes_heard(struct changes *changes, int timeout_ms)
{
    if (changes->watch < 0) {
        (void)poll(NULL, 0, timeout_ms < CHECK_MS ? timeout_ms : CHECK_MS);
        find_folder(changes);
        /* Events before the watch were lost. */
        return changes->watch >= 0 && access(changes->path, F_OK) == 0;
    }
    struct pollfd fd = {.fd = changes->fd, .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1 && read_events(changes);
}

/* The loader refuses what is not an ELF file of 64 bits. */
static bool
is_whole(const Elf64_Ehdr *head, ssize_t got, off_t size)
{
    bool elf = got >= SELFMAG && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0;
    if (!elf || (got > EI_CLASS && head->e_ident[EI_CLASS] != ELFCLASS64)) {
        return got > 0;
    }
    /* The table of sections comes last. */
    return got == (ssize_t)sizeof(*head) &&
           head->e_shoff + (uint64_t)head->e_shnum * head->e_shentsize <= (uint64_t)size;
}

/* Whether the file exists, is not empty, and, if it is an ELF file, is complete. */
static bool
changes_is_whole(const struct changes *changes)
{
    Elf64_Ehdr head;
    struct stat status;
    int fd = open(changes->path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 is_whole(&head, read(fd, &head, sizeof(head)), status.st_size);
    if (fd >= 0) {
        (void)close(fd);
    }
    return whole;
}

/* Waits until the file has no more events and is whole. False: it does not exist, or is not whole
 * after a while without events. */
static bool
changes_settle(struct changes *changes)
{
    for (int still = 0; still < PATIENCE; still++) {
        errno = 0;
        if (changes_heard(changes, STILL_MS)) {
            still = -1; /* It is being written. */
        } else if (errno == EINTR) {
            return false;
        } else if (changes_is_whole(changes)) {
            return true;
        }
    }
    return false;
}

/* ---- The command line. ----------------------------------------------------------------------- */

#define ARGUMENTS_MAX 512u
#define COMMAND_LINE_MAX ((size_t)1 << 20)

struct watch {
    struct changes changes;
    const char *what; /* The file, as on the command line. */
    bool json;
    bool screen; /* Cleared before each run. */
    char *line;  /* Owned: the command line, each word with a 0. */
    const char *arguments[ARGUMENTS_MAX];
    uint32_t runs;
};

/* The words of this command line, for `run`, as they were typed. */
static bool
take_command_line(struct watch *watch)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    watch->line = sim_heap_must(malloc(COMMAND_LINE_MAX));
    size_t size = file != NULL ? fread(watch->line, 1, COMMAND_LINE_MAX, file) : 0;
    uint32_t count = 0;
    for (size_t at = 0; at < size && count + 1 < ARGUMENTS_MAX; count++) {
        watch->arguments[count] = watch->line + at;
        at += strnlen(watch->line + at, size - at) + 1;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    bool fits = count >= 2 && count + 1 < ARGUMENTS_MAX && size < COMMAND_LINE_MAX;
    watch->arguments[count] = NULL;
    if (fits) {
        watch->arguments[1] = "run";
    }
    return fits;
}

/* The path of the program: a build replaces the file. */
static bool
take_program(struct watch *watch)
{
    static char self[PATH_MAX];
    const char *path = sim_child_self();
    (void)snprintf(self, sizeof(self), "%s", path != NULL ? path : "");
    watch->arguments[0] = self;
    watch->what = watch->what != NULL ? watch->what : self;
    return path != NULL;
}

/* ---- Runs. ----------------------------------------------------------------------------------- */

static void
report(const struct watch *watch, const char *what)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "watch: %s %s\n", watch->what, what);
}

/* Runs until it is done or the file changes. True: it has changed. */
static bool
run_once(struct watch *watch)
{
    const struct sim_child_setup setup = {.loud = true};
    int status = 0;
    if (watch->screen) {
        (void)fputs("\033[H\033[2J", stdout);
        (void)fflush(stdout);
    }
    pid_t pid = sim_child_start(watch->arguments, &setup);
    watch->runs++;
    while (pid > 0 && !sim_child_ended(pid, &status)) {
        if (changes_heard(&watch->changes, CHECK_MS / 4)) {
            sim_child_end(pid);
            return true;
        }
        if (sim_child_interrupted()) {
            (void)sim_child_wait(pid);
            return false;
        }
    }
    return false;
}

static void
watch_on(struct watch *watch)
{
    bool changed = false;
    if (!changes_is_whole(&watch->changes)) {
        report(watch, "is missing, or not whole; waiting for it");
        changed = changes_settle(&watch->changes);
    } else {
        changed = run_once(watch);
        report(watch, "is watched; ^C ends");
    }
    while (!sim_child_interrupted()) {
        if (!changed && !changes_heard(&watch->changes, CHECK_MS)) {
            continue;
        }
        changed = false;
        if (!changes_settle(&watch->changes)) {
            continue; /* Missing, or still not whole. */
        }
        report(watch, "has changed");
        changed = run_once(watch);
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
watch_command(struct sim_cli *cli)
{
    static struct watch watch;
    const char *term = getenv("TERM");
    watch = (struct watch){.json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON)};
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    watch.screen = !watch.json && !dumb && isatty(STDOUT_FILENO) == 1;
    if (cli->count > 0 && sim_cli_is_library(cli->arguments[0])) {
        watch.what = cli->arguments[0];
    }
    if (!take_command_line(&watch) || !take_program(&watch)) {
        free(watch.line);
        return sim_cli_fail(SIM_EXIT_SYSTEM, "/proc/self/cmdline cannot be read, or is too long");
    }
    if (!changes_init(&watch.changes, watch.what)) {
        free(watch.line);
        return sim_cli_fail(
                SIM_EXIT_SYSTEM, "%s cannot be watched: %s", watch.what, strerror(errno));
    }
    sim_child_listen();
    watch_on(&watch);
    changes_fini(&watch.changes);
    free(watch.line);
    return SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "watch", .purpose = SIM_PURPOSE_FIND,
        .usage = "[LIB.so] [PATTERN...] [options of run]",
        .about = "run scenarios again whenever their library changes",
        .help = "The arguments are those of `rewake run`, which is started for each change, "
                "in a new process; without a library, the program itself is watched. A "
                "library that is still being written is waited for; one that does not load is "
                "reported, and the next one waited for. On a terminal the screen is cleared "
                "before each run. ^C ends it, with status 0.\n",
        .options = SIM_RUN_OPTIONS, .takes = SIM_TAKES_NAMES | SIM_TAKES_FILES,
        .arguments_max = UINT32_MAX, .run = watch_command);

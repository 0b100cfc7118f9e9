// Cause: s3_nested.c:61 the nested loop of a blocking call fetches the events of all descriptors and throws away those that are not its reply; the edge of the mail is gone with them, and the letters stay where they are.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define JOBS 2
#define LETTERS 3
#define KEPT 8

enum { MAIL, JOB, REPLY };

struct program {
    struct sim_fds *fds;
    int fd[3]; /* Eventfds, by the numbers above. */
    struct sim_fds *directory_fds;
    int request;
    uint64_t kept[KEPT]; /* Events that a nested loop has fetched. */
    uint32_t kept_count;
    uint32_t letters; /* Brought, and not read. */
    uint32_t letters_read;
    uint32_t jobs;
    uint32_t jobs_done;
    bool fixed;
};

static bool
drain(struct sim_fds *fds, int fd)
{
    uint64_t counter;
    return sim_fd_read(fds, fd, &counter, sizeof counter) == (int64_t)sizeof counter;
}

static void
on_mail(struct program *program)
{
    if (program->letters_read == LETTERS) {
        return;
    }
    sim_foreign_poll(&program->letters);
    (void)drain(program->fds, program->fd[MAIL]);
    while (program->letters > 0) {
        program->letters--;
        program->letters_read++;
        SIM_PROGRESS();
    }
    sim_foreign_polled(&program->letters, program->letters_read == LETTERS);
}

/* Asks the directory, and returns with its answer. */
static void
ask_directory(struct program *program)
{
    struct sim_fd_event events[3];
    bool answered = false;
    SIM_ALWAYS(sim_fd_notify(program->directory_fds, program->request) == RT_OK);
    while (!answered) {
        uint32_t count = sim_fd_wait(program->fds, events, 3, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].data == REPLY) {
                answered = drain(program->fds, program->fd[REPLY]) || answered;
            } else if (program->fixed) {
                SIM_ALWAYS(program->kept_count < KEPT);
                program->kept[program->kept_count++] = events[i].data;
            }
        }
    }
}

static void
on_job(struct program *program)
{
    (void)drain(program->fds, program->fd[JOB]);
    while (program->jobs > 0) {
        program->jobs--;
        ask_directory(program);
        program->jobs_done++;
        SIM_PROGRESS();
    }
}

static void
dispatch(struct program *program, uint64_t what)
{
    if (what == MAIL) {
        on_mail(program);
    } else if (what == JOB) {
        on_job(program);
    }
}

static void
mail_again(void *runtime, void *watcher)
{
    (void)watcher;
    on_mail(runtime);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    struct sim_fd_event events[3];
    (void)world;
    while (program->jobs_done < JOBS || program->letters_read < LETTERS) {
        if (program->kept_count > 0) {
            dispatch(program, program->kept[--program->kept_count]);
            continue;
        }
        uint32_t count = sim_fd_wait(program->fds, events, 3, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            dispatch(program, events[i].data);
        }
    }
}

/* Three separate threads. */
static void
directory_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    struct sim_fd_event event;
    for (;;) {
        (void)sim_fd_wait(program->directory_fds, &event, 1, SIM_NEVER);
        if (drain(program->directory_fds, program->request)) {
            sim_sleep(world, sim_range(world, RT_MS / 10, 2 * RT_MS));
            SIM_ALWAYS(sim_fd_notify(program->fds, program->fd[REPLY]) == RT_OK);
        }
    }
}

static void
postman_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
        program->letters++;
        SIM_ALWAYS(sim_fd_notify(program->fds, program->fd[MAIL]) == RT_OK);
    }
}

static void
customer_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 3 * RT_MS / 2, 4 * RT_MS));
        program->jobs++;
        SIM_ALWAYS(sim_fd_notify(program->fds, program->fd[JOB]) == RT_OK);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[3] = {"mail", "jobs", "reply"};
    struct program *program = sim_new(world, struct program);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, program);
    struct sim_foreign *foreign = sim_foreign_new(loop, mail_again, program);
    program->fds = sim_fds_new(host, 3);
    program->directory_fds = sim_fds_new(sim_host_new(world, "directory's", SIM_PROFILE_FD), 3);
    program->fixed = fixed;
    for (uint32_t i = 0; i < 3; i++) {
        SIM_ALWAYS(sim_fd_event_open(program->fds, names[i], &program->fd[i]) == RT_OK);
        SIM_ALWAYS(sim_fd_add(program->fds, program->fd[i], SIM_FD_IN | SIM_FD_EDGE, i) == RT_OK);
    }
    SIM_ALWAYS(sim_fd_event_open(program->directory_fds, "request", &program->request) == RT_OK);
    SIM_ALWAYS(sim_fd_add(program->directory_fds, program->request, SIM_FD_IN, 0) == RT_OK);
    sim_foreign_watch(foreign, &program->letters, "mail", "a letter");
    (void)sim_loop_new_background(world, "directory", directory_main, program);
    (void)sim_loop_new(world, "postman", postman_main, program);
    (void)sim_loop_new(world, "customer", customer_main, program);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_nested/broken", .about = "A call that waits inside a callback.",
        .setup = setup_broken, .slack_ns = 10 * RT_MS);
SIM_SCENARIO(fixed, .name = "set3/s3_nested/fixed", .about = "A call that waits inside a callback.",
        .setup = setup_fixed, .slack_ns = 10 * RT_MS);

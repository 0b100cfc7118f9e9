/*
 * signal.c -- what is pending, which handler runs, and the calls that ask and set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/signal.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/posix/wait.h"

struct pending {
    struct rt_list link;              /* In state->pending, the oldest first. */
    struct sim__posix_thread *to;     /* NULL: the process. */
    struct sim__posix_thread *chosen; /* Of the process, to handle it; NULL: all block it. */
    siginfo_t info;
    uint32_t sent; /* So many times: a second one of a kind is lost, but for real-time signals. */
};

static struct pending *
pending_of(struct rt_list *node)
{
    return rt_container_of(node, struct pending, link);
}

static struct sim__posix_thread *
thread_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__posix_thread, link);
}

static struct sim__posix_thread *
find_thread(const struct sim__posix *state, const struct sim_thread *of)
{
    rt_list_each(node, &state->threads)
    {
        if (thread_of(node)->thread == of) {
            return thread_of(node);
        }
    }
    return NULL;
}

static struct sim__posix_thread *
add_thread(struct sim__posix *state, struct sim_thread *of, const sigset_t *mask)
{
    struct sim__posix_thread *thread = sim_new(state->world, struct sim__posix_thread);
    thread->thread = of;
    thread->mask = *mask;
    (void)sigemptyset(&thread->taken);
    (void)sigemptyset(&thread->sent);
    rt_list_init(&thread->link);
    rt_list_push_back(&state->threads, &thread->link);
    return thread;
}

/* A thread has the mask of the one that made it. No state is made: an earlier run of the process
 * may be why this is called. */
static void
inherit(struct sim_thread *thread)
{
    struct sim__posix *state = sim__posix_state_made();
    const struct sim__posix_thread *parent =
            state != NULL ? find_thread(state, sim_thread_now) : NULL;
    if (parent != NULL) {
        (void)add_thread(state, thread, &parent->mask);
    }
}

/* Of `of`; one that has made no call yet blocks nothing. */
static struct sim__posix_thread *
posix_thread(struct sim_thread *of)
{
    struct sim__posix *state = sim__posix_state();
    struct sim__posix_thread *thread = find_thread(state, of);
    sigset_t none;
    (void)sigemptyset(&none);
    sim_thread_on_spawn = inherit;
    sim_thread_on_signal = sim__posix_deliver_at;
    return thread != NULL ? thread : add_thread(state, of, &none);
}

struct sim__posix_thread *
sim__posix_thread(void)
{
    return posix_thread(sim_thread_now);
}

static bool
is_number(int number)
{
    return number > 0 && number < SIM__POSIX_SIGNALS;
}

/* ---- Pending. -------------------------------------------------------------------------------- */

/* Whether `thread` would take it: by a handler, or by sigwait. */
static bool
wants(const struct sim__posix_thread *thread, int number)
{
    return !thread->thread->actor.done &&
           (sigismember(&thread->mask, number) == 0 || sigismember(&thread->taken, number) == 1);
}

/* Whether it is `thread` that takes what is pending. */
static bool
reaches(const struct pending *pending, const struct sim__posix_thread *thread)
{
    bool open = pending->to == NULL &&
                (pending->chosen == NULL || !wants(pending->chosen, pending->info.si_signo));
    return (open || pending->to == thread || pending->chosen == thread) &&
           wants(thread, pending->info.si_signo);
}

bool
sim__posix_is_signalled(const struct sim__posix_thread *thread)
{
    rt_list_each(node, &sim__posix_state()->pending)
    {
        if (reaches(pending_of(node), thread)) {
            return true;
        }
    }
    return false;
}

/* NULL: none is. */
static struct pending *
find_pending(const struct sim__posix_thread *to, int number)
{
    rt_list_each(node, &sim__posix_state()->pending)
    {
        struct pending *pending = pending_of(node);
        if (pending->to == to && pending->info.si_signo == number) {
            return pending;
        }
    }
    return NULL;
}

static bool
is_ignored(int number)
{
    const struct sigaction *action = &sim__posix_state()->actions[number];
    bool usually = number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
    return action->sa_handler == SIG_IGN || (action->sa_handler == SIG_DFL && usually);
}

/* The thread after `at` that wants signal `number`, in the order of creation; NULL: none does. */
static struct sim_thread *
next_that_wants(struct sim_thread *at, int number)
{
    while (at != NULL && !wants(posix_thread(at), number)) {
        at = at->next;
    }
    return at;
}

/* As in Linux: the first thread of the process, if it wants the signal; else one of those that do,
 * where Linux takes one that happens to run. NULL: none does. */
static struct sim__posix_thread *
choose(int number)
{
    struct sim_world *world = sim__posix_state()->world;
    struct sim_thread *main = sim_thread_first(world);
    struct sim_thread *first = next_that_wants(main, number);
    uint32_t count = 0;
    for (struct sim_thread *at = first; at != NULL && first != main;
            at = next_that_wants(at->next, number)) {
        count++;
    }
    uint32_t most = count < SIM_ALTERNATIVES_MAX ? count : SIM_ALTERNATIVES_MAX;
    uint32_t nth =
            most > 1 ? sim_actor_choose(world->current, SIM_KIND_ORDER, most, SIM_ODDS_EVEN) : 0;
    for (; nth > 0; nth--) {
        first = next_that_wants(first->next, number);
    }
    return first != NULL ? posix_thread(first) : NULL;
}

/* Tells the thread that takes it, which may be blocked. */
static void
aim(struct pending *pending)
{
    struct sim__posix_thread *to = pending->to;
    if (to == NULL) {
        to = pending->chosen = choose(pending->info.si_signo);
    }
    if (to != NULL && wants(to, pending->info.si_signo)) {
        to->thread->signaled = true;
        if (to->thread->blocked) {
            sim_thread_wake(to->thread, NULL);
        }
    }
}

/* What it has been chosen for and now blocks goes to another thread. */
static void
set_mask(struct sim__posix_thread *self, const sigset_t *mask)
{
    self->mask = *mask;
    rt_list_each(node, &sim__posix_state()->pending)
    {
        struct pending *pending = pending_of(node);
        self->thread->signaled = true; /* It looks. */
        if (pending->chosen == self && !wants(self, pending->info.si_signo)) {
            aim(pending);
        }
    }
}

static void
add_pending(struct sim__posix_thread *to, const siginfo_t *info)
{
    struct sim__posix *state = sim__posix_state();
    struct pending *pending = sim_new(state->world, struct pending);
    *pending = (struct pending){.to = to, .info = *info, .sent = 1};
    rt_list_init(&pending->link);
    rt_list_push_back(&state->pending, &pending->link);
    aim(pending);
    sim__posix_signalfds_changed(info->si_signo);
}

bool
sim__posix_notify(struct sim__posix_thread *to, int number, union sigval value, int code)
{
    struct sim__posix *state = sim__posix_state();
    rt_assert(is_number(number));
    if (is_ignored(number) && next_that_wants(sim_thread_first(state->world), number) != NULL) {
        return true;
    }
    struct pending *earlier = number < SIGRTMIN ? find_pending(to, number) : NULL;
    if (earlier != NULL && !state->signals_queue) {
        earlier->sent++;
        return false;
    }
    siginfo_t info = {.si_signo = number, .si_code = code};
    info.si_value = value;
    add_pending(to, &info);
    return true;
}

void
sim__posix_repeat_signal(const siginfo_t *info, uint32_t times)
{
    sim__posix_state()->signals_queue = true;
    for (; times > 0; times--) {
        add_pending(NULL, info);
    }
}

/* As in Linux: those that were sent to the thread come first, then the lower numbers. */
static bool
is_before(const struct pending *a, const struct pending *b)
{
    if ((a->to == NULL) != (b->to == NULL)) {
        return a->to != NULL;
    }
    return a->info.si_signo < b->info.si_signo;
}

/* Who takes what is pending. */
enum taker {
    BY_ANY,    /* By a signalfd: whichever thread it was sent to. */
    BY_WAIT,   /* By sigwait. */
    BY_HANDLER /* What was sent to the process: by the thread that was chosen. */
};

static bool
may_take(const struct pending *pending, const struct sim__posix_thread *self, enum taker taker)
{
    return taker == BY_ANY || pending->to == self ||
           (pending->to == NULL && (taker == BY_WAIT || reaches(pending, self)));
}

static bool
take_from(enum taker taker, const sigset_t *set, siginfo_t *ret, uint32_t *ret_sent)
{
    const struct sim__posix_thread *self = sim__posix_thread();
    struct pending *first = NULL;
    rt_list_each(node, &sim__posix_state()->pending)
    {
        struct pending *pending = pending_of(node);
        if (may_take(pending, self, taker) && sigismember(set, pending->info.si_signo) == 1 &&
                (first == NULL || is_before(pending, first))) {
            first = pending;
        }
    }
    if (first != NULL) {
        *ret = first->info;
        *ret_sent = first->sent;
        rt_list_unlink(&first->link);
        sim__posix_signalfds_level();
    }
    return first != NULL;
}

int
sim__posix_take_signal(const sigset_t *set, siginfo_t *ret)
{
    uint32_t sent = 0;
    return take_from(BY_WAIT, set, ret, &sent) ? ret->si_signo : 0;
}

bool
sim__posix_take_signal_of_any(const sigset_t *set, siginfo_t *ret, uint32_t *ret_sent)
{
    return take_from(BY_ANY, set, ret, ret_sent);
}

bool
sim__posix_any_pending(const sigset_t *set)
{
    rt_list_each(node, &sim__posix_state()->pending)
    {
        if (sigismember(set, pending_of(node)->info.si_signo) == 1) {
            return true;
        }
    }
    return false;
}

/* ---- Handlers. ------------------------------------------------------------------------------- */

static void
die(int number)
{
    struct sim_world *world = sim_world_current;
    sim_fail(world, SIM_VERDICT_CRASH, SIM_ORACLE_PROCESS, world->current, 0,
            "the program was ended by signal %d (SIG%s), for which it has no handler", number,
            sigabbrev_np(number) != NULL ? sigabbrev_np(number) : "RT");
}

static void
call_handler(const struct sigaction *action, siginfo_t *info)
{
    if ((action->sa_flags & SA_SIGINFO) != 0) {
        static const char context[1024]; /* A ucontext_t that says nothing. */
        union {
            const void *is;
            void *seen;
        } there = {context};
        action->sa_sigaction(info->si_signo, info, there.seen);
    } else {
        action->sa_handler(info->si_signo);
    }
}

static uint32_t handle_all(struct sim__posix_thread *self);

/* As in Linux, the frames of all handlers are made before the first one runs: so the last signal
 * that is taken has its handler called first. */
static void
handle(struct sim__posix_thread *thread, siginfo_t *info)
{
    struct sigaction *slot = &sim__posix_state()->actions[info->si_signo];
    struct sigaction action = *slot;
    if (is_ignored(info->si_signo)) {
        return;
    }
    if (action.sa_handler == SIG_DFL) {
        die(info->si_signo);
    }
    if ((action.sa_flags & (int)SA_RESETHAND) != 0) {
        slot->sa_handler = SIG_DFL;
    }
    sigset_t before = thread->mask;
    sigset_t during;
    const char *call = thread->thread->call;
    const struct sim_called called = thread->thread->called;
    (void)sigorset(&during, &before, &action.sa_mask);
    if ((action.sa_flags & SA_NODEFER) == 0) {
        (void)sigaddset(&during, info->si_signo);
    }
    set_mask(thread, &during);
    (void)handle_all(thread);
    call_handler(&action, info);
    set_mask(thread, &before);
    thread->thread->call = call;
    thread->thread->called = called;
    thread->thread->restarts = thread->thread->restarts && (action.sa_flags & SA_RESTART) != 0;
}

/* How many there were. */
static uint32_t
handle_all(struct sim__posix_thread *self)
{
    sigset_t wanted;
    siginfo_t info;
    uint32_t sent = 0;
    uint32_t count = 0;
    (void)sigfillset(&wanted);
    bool any = !rt_list_empty(&sim__posix_state()->pending); /* Asked at each call that waits. */
    for (int number = 1; number < SIM__POSIX_SIGNALS && any; number++) {
        if (sigismember(&self->mask, number) == 1) {
            (void)sigdelset(&wanted, number);
        }
    }
    while (any && take_from(BY_HANDLER, &wanted, &info, &sent)) {
        handle(self, &info);
        count++;
    }
    self->thread->signaled = false;
    return count;
}

uint32_t
sim__posix_deliver(void)
{
    struct sim__posix_thread *self = sim__posix_thread();
    self->thread->restarts = true;
    return handle_all(self);
}

bool
sim__posix_deliver_at(bool may_wait)
{
    struct sim_world *world = sim__posix_state()->world;
    const struct sim__posix_thread *self = sim__posix_thread();
    if (self->masked || !sim__posix_is_signalled(self)) {
        self->thread->signaled = self->masked;
        return false;
    }
    bool waits = may_wait &&
                 sim__perturb(world->current, SIM_KIND_LATE, 2, world->options.late_one_in) != 0;
    return !waits && sim__posix_deliver() > 0;
}

struct sim__posix_mask
sim__posix_mask_begin(const sigset_t *during)
{
    struct sim__posix_thread *self = sim__posix_thread();
    struct sim__posix_mask before = {.before = self->mask, .masked = self->masked};
    if (during != NULL) {
        set_mask(self, during);
        self->masked = true;
    }
    return before;
}

int
sim__posix_mask_end(const struct sim__posix_mask *before, int count)
{
    struct sim__posix_thread *self = sim__posix_thread();
    bool interrupted = count == 0 && self->masked && sim__posix_deliver() > 0;
    self->masked = before->masked;
    set_mask(self, &before->before);
    return interrupted ? sim__posix_error(EINTR) : count;
}

/* ---- Sending. -------------------------------------------------------------------------------- */

int
sim__posix_broken_pipe(bool silent)
{
    if (!silent) {
        (void)sim__posix_notify(sim__posix_thread(), SIGPIPE, (union sigval){0}, SI_KERNEL);
        (void)sim__posix_deliver();
    }
    return sim__posix_error(EPIPE);
}

/* The call in progress as it is recorded: which signal, and the descriptor that it is read from. */
static struct sim_called
call_of(int number)
{
    const struct rt_site *site = sim_thread_site(sim__posix_now.caller);
    return (struct sim_called){.call = {.fd = SIM_CALL_NO_FD, .value = (uint64_t)number},
            .object = sim__posix_signalfd_of(number),
            .site = site != NULL ? site->id : 0,
            .begun = true,
            .valued = true};
}

/* As a kernel does, a signal that a thread sends to itself is there when the call returns. */
static int
send_now(struct sim__posix_thread *to, int number, union sigval value, int code)
{
    if (number == 0) {
        return 0;
    }
    if (!is_number(number)) {
        return EINVAL;
    }
    struct sim_called called = call_of(number);
    sim_thread_point();
    (void)sigaddset(&sim__posix_thread()->sent, number);
    called.call.second = !sim__posix_notify(to, number, value, code);
    (void)sim__posix_deliver();
    sim_thread_now->called = called; /* Handlers make calls of their own. */
    return 0;
}

int
sim__posix_kill(pid_t pid, int number)
{
    pid_t self = sim__posix_getpid();
    if (pid != self && pid != 0 && pid != -self) {
        return sim__posix_error(ESRCH);
    }
    int error = send_now(NULL, number, (union sigval){0}, SI_USER);
    return error != 0 ? sim__posix_error(error) : 0;
}

/* To one thread; 0 or an errno. One that has ended takes no more, and that is no error. */
static int
send_to(struct sim_thread *thread, int number, union sigval value, int code)
{
    if (thread == NULL) {
        return ESRCH;
    }
    int asked = thread->actor.done ? 0 : number;
    return is_number(number) || number == 0 ? send_now(posix_thread(thread), asked, value, code)
                                            : EINVAL;
}

int
sim__posix_pthread_kill(pthread_t thread, int number)
{
    return send_to(sim_thread_of(thread), number, (union sigval){0}, SI_TKILL);
}

int
sim__posix_pthread_sigqueue(pthread_t thread, int number, union sigval value)
{
    return send_to(sim_thread_of(thread), number, value, SI_QUEUE);
}

int
sim__posix_tgkill(pid_t pid, pid_t number_of, int number)
{
    struct sim_thread *thread = sim_thread_first(sim_world_current);
    pid_t self = sim__posix_getpid();
    while (thread != NULL && self + (pid_t)thread->number != number_of) {
        thread = thread->next;
    }
    bool ours = pid == self && thread != NULL && !thread->actor.done;
    int error = ours ? send_to(thread, number, (union sigval){0}, SI_TKILL) : ESRCH;
    return error != 0 ? sim__posix_error(error) : 0;
}

int
sim__posix_killpg(pid_t group, int number)
{
    return sim__posix_kill(group < 0 ? group : -group, number);
}

int
sim__posix_sigqueue(pid_t pid, int number, union sigval value)
{
    if (pid != sim__posix_getpid()) {
        return sim__posix_error(ESRCH);
    }
    int error = send_now(NULL, number, value, SI_QUEUE);
    return error != 0 ? sim__posix_error(error) : 0;
}

int
sim__posix_raise(int number)
{
    int error = send_now(sim__posix_thread(), number, (union sigval){0}, SI_TKILL);
    return error != 0 ? sim__posix_error(error) : 0;
}

/* ---- Asking and setting. --------------------------------------------------------------------- */

int
sim__posix_sigaction(int number, const struct sigaction *action, struct sigaction *ret_before)
{
    if (!is_number(number) || (action != NULL && (number == SIGKILL || number == SIGSTOP))) {
        return sim__posix_error(EINVAL);
    }
    struct sigaction *slot = &sim__posix_state()->actions[number];
    struct sigaction before = *slot;
    if (action != NULL) {
        *slot = *action;
    }
    if (ret_before != NULL) {
        *ret_before = before;
    }
    return 0;
}

static sighandler_t
set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction before = {.sa_handler = SIG_ERR};
    (void)sigemptyset(&action.sa_mask);
    (void)sim__posix_sigaction(number, &action, &before);
    return before.sa_handler;
}

sighandler_t
sim__posix_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

/* What signal() is to a program compiled with -std=c11 or -D_XOPEN_SOURCE. */
sighandler_t
sim__posix___sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

int
sim__posix_siginterrupt(int number, int interrupts)
{
    struct sigaction action;
    if (sim__posix_sigaction(number, NULL, &action) != 0) {
        return -1;
    }
    action.sa_flags = (action.sa_flags & ~SA_RESTART) | (interrupts != 0 ? 0 : SA_RESTART);
    return sim__posix_sigaction(number, &action, NULL);
}

/* 0 or an errno. */
static int
change_mask(int how, const sigset_t *set, sigset_t *ret_before)
{
    struct sim__posix_thread *self = sim__posix_thread();
    sigset_t before = self->mask;
    sigset_t after = self->mask;
    for (int number = 1; number < SIM__POSIX_SIGNALS && set != NULL; number++) {
        bool in_set = sigismember(set, number) == 1;
        if (how == SIG_SETMASK || in_set) {
            bool blocks = how == SIG_UNBLOCK ? false : in_set;
            (void)(blocks ? sigaddset(&after, number) : sigdelset(&after, number));
        }
    }
    if (set != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) {
        return EINVAL;
    }
    set_mask(self, &after);
    if (ret_before != NULL) {
        *ret_before = before;
    }
    (void)sim__posix_deliver();
    return 0;
}

int
sim__posix_sigprocmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    int error = change_mask(how, set, ret_before);
    return error != 0 ? sim__posix_error(error) : 0;
}

int
sim__posix_pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    return change_mask(how, set, ret_before);
}

int
sim__posix_sigpending(sigset_t *ret)
{
    const struct sim__posix_thread *self = sim__posix_thread();
    (void)sigemptyset(ret);
    rt_list_each(node, &sim__posix_state()->pending)
    {
        const struct pending *pending = pending_of(node);
        if (pending->to == NULL || pending->to == self) {
            (void)sigaddset(ret, pending->info.si_signo);
        }
    }
    return 0;
}

/* The faults of a program have rewake's own stack. */
int
sim__posix_sigaltstack(const stack_t *stack, stack_t *ret_before)
{
    (void)stack;
    if (ret_before != NULL) {
        *ret_before = (stack_t){.ss_flags = SS_DISABLE};
    }
    return 0;
}

/* ---- Waiting for one. ------------------------------------------------------------------------ */

static bool
is_handled(int number)
{
    const struct sigaction *action = &sim__posix_state()->actions[number];
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Whether another thread than `self` has sent it in this run. */
static bool
is_sent_by_others(const struct sim__posix_thread *self, int number)
{
    rt_list_each(node, &sim__posix_state()->threads)
    {
        const struct sim__posix_thread *thread = thread_of(node);
        if (thread != self && sigismember(&thread->sent, number) == 1) {
            return true;
        }
    }
    return false;
}

/* Whether `self`, which waits for signals of `taken` (NULL: those that have a handler, and are not
 * in `blocked`), may be woken from outside of the run: but where other threads send each of them,
 * as threads do that wake each other by a signal. */
static bool
is_outside(const struct sim__posix_thread *self, const sigset_t *taken, const sigset_t *blocked)
{
    bool own = false;
    for (int number = 1; number < SIM__POSIX_SIGNALS; number++) {
        bool waits = taken != NULL ? sigismember(taken, number) == 1
                                   : is_handled(number) && sigismember(blocked, number) == 0;
        if (waits && !is_sent_by_others(self, number)) {
            return true;
        }
        own = own || waits;
    }
    return !own;
}

int
sim__posix_sigsuspend(const sigset_t *mask)
{
    struct sim__posix_thread *self = sim__posix_thread();
    sigset_t before = self->mask;
    struct sim__posix_wait wait = {
            .reason = "a signal", .due_ns = SIM_NEVER, .outside = is_outside(self, NULL, mask)};
    set_mask(self, mask);
    while (sim__posix_deliver() == 0) {
        if (sim__posix_wait(&wait) == SIM__POSIX_INTERRUPTED) {
            break; /* A handler has run. */
        }
    }
    set_mask(self, &before);
    return sim__posix_error(EINTR);
}

int
sim__posix_pause(void)
{
    sigset_t mask = sim__posix_thread()->mask;
    return sim__posix_sigsuspend(&mask);
}

/* The signal, or 0: the time is over, or a handler of another signal has run. */
static int
take_until(const sigset_t *set, siginfo_t *ret, uint64_t due_ns, int *ret_error)
{
    struct sim__posix_thread *self = sim__posix_thread();
    struct sim__posix_wait wait = {
            .reason = "a signal", .due_ns = due_ns, .outside = is_outside(self, set, NULL)};
    enum sim__posix_woken woken = SIM__POSIX_WOKEN;
    int number = sim__posix_take_signal(set, ret);
    self->taken = *set;
    while (number == 0 && woken == SIM__POSIX_WOKEN) {
        woken = sim__posix_wait(&wait);
        number = sim__posix_take_signal(set, ret);
    }
    (void)sigemptyset(&self->taken);
    *ret_error = woken == SIM__POSIX_TIMED_OUT ? EAGAIN : EINTR;
    return number;
}

int
sim__posix_sigtimedwait(const sigset_t *set, siginfo_t *ret, const struct timespec *time)
{
    siginfo_t info;
    int error = 0;
    uint64_t due_ns =
            time != NULL ? sim__posix_due(CLOCK_MONOTONIC, false, time) : (uint64_t)SIM_NEVER;
    int number = take_until(set, &info, due_ns, &error);
    if (number == 0) {
        return sim__posix_error(error);
    }
    if (ret != NULL) {
        *ret = info;
    }
    return number;
}

int
sim__posix_sigwaitinfo(const sigset_t *set, siginfo_t *ret)
{
    return sim__posix_sigtimedwait(set, ret, NULL);
}

int
sim__posix_sigwait(const sigset_t *set, int *ret)
{
    siginfo_t info;
    int number = 0;
    while (number == 0 && !sim_thread_now->cut) {
        int error = 0;
        number = take_until(set, &info, SIM_NEVER, &error);
    }
    *ret = number;
    return 0;
}

/*
 * fd_wait.c -- interest in descriptors, and fetching batches of events.
 *
 * Registrations are in one list, longest unreported first, so that a batch smaller
 * than what is ready starves none.
 *
 *      level     reported while it holds
 *      EDGE      reported once after each change (`armed`), with all that holds then
 *      ONESHOT   reported once, then silent until it is modified (`spent`)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd_priv.h"

#define UNASKED (SIM_FD_ERR | SIM_FD_HUP)
#define ALL (SIM_FD_IN | SIM_FD_OUT | SIM_FD_RDHUP | UNASKED | SIM_FD_EDGE | SIM_FD_ONESHOT)

static struct sim__registration *
registration_of(struct rt_list *node)
{
    return rt_container_of(node, struct sim__registration, link);
}

/* The registrations in all tables of a host. */
#define registrations_each(node, host) \
    rt_list_each(table, &(host)->tables) \
            rt_list_each(node, &rt_container_of(table, struct sim_fds, link)->registrations)

/* ---- What is ready. -------------------------------------------------------------------------- */

/* The events of its interest that hold, whether or not they are to be reported now. */
static uint32_t
holds(const struct sim__registration *registration)
{
    uint32_t asked = registration->interest | UNASKED;
    return sim__description_events(registration->description) & asked;
}

static uint32_t
reportable(const struct sim__registration *registration)
{
    bool silent = registration->spent ||
                  ((registration->interest & SIM_FD_EDGE) != 0 && !registration->armed);
    if (registration->pretended) {
        return holds(registration) | (registration->interest & (SIM_FD_IN | SIM_FD_OUT));
    }
    return silent ? 0 : holds(registration);
}

void
sim__description_edge(struct sim__description *description, uint32_t events)
{
    rt_list_each(node, &description->fds->registrations)
    {
        struct sim__registration *registration = registration_of(node);
        if (registration->description == description &&
                (events & (registration->interest | UNASKED)) != 0) {
            registration->armed = true;
        }
    }
}

void
sim__fds_renew(struct sim_host *host)
{
    registrations_each(node, host)
    {
        registration_of(node)->armed = true;
    }
}

/* A registration that is spent although events of its interest hold; NULL: none. */
static struct sim__registration *
find_silent(const struct sim_host *host)
{
    registrations_each(node, host)
    {
        struct sim__registration *registration = registration_of(node);
        if (registration->spent && holds(registration) != 0) {
            return registration;
        }
    }
    return NULL;
}

bool
sim__fds_silent(void *host, struct sim_silence *ret)
{
    const struct sim__registration *registration = find_silent(host);
    if (registration != NULL) {
        ret->object = registration->description->source->object;
        ret->events = holds(registration);
        ret->reported_to = registration->reported_to;
    }
    return registration != NULL;
}

void
sim__fds_ask_again(void *host)
{
    struct sim__registration *registration;
    while ((registration = find_silent(host)) != NULL) {
        registration->spent = false;
        registration->armed = true;
    }
    sim__host_changed(host);
}

void
sim__fds_pretend(void *host)
{
    const struct sim_host *all = host;
    registrations_each(node, all)
    {
        registration_of(node)->pretended = !registration_of(node)->spent;
    }
    sim__host_changed(host);
}

/* ---- Interest. ------------------------------------------------------------------------------- */

static struct sim__registration *
find(struct sim_fds *fds, const struct sim__description *description, int fd)
{
    rt_list_each(node, &fds->registrations)
    {
        struct sim__registration *registration = registration_of(node);
        if (registration->description == description && registration->number == fd) {
            return registration;
        }
    }
    return NULL;
}

static struct sim__registration *
registration_new(struct sim_fds *fds)
{
    struct rt_list *spare = rt_list_pop_front(&fds->spare);
    struct sim__registration *registration =
            spare != NULL ? registration_of(spare)
                          : sim_new(fds->host->world, struct sim__registration);
    rt_list_init(&registration->link);
    rt_list_push_back(&fds->registrations, &registration->link);
    return registration;
}

static void
registration_free(struct sim_fds *fds, struct sim__registration *registration)
{
    registration->description = NULL;
    rt_list_unlink(&registration->link);
    rt_list_push_back(&fds->spare, &registration->link);
}

/* A change re-arms: what holds already is reported. */
static void
ask(struct sim__registration *registration, uint32_t events, uint64_t data)
{
    registration->interest = events;
    registration->data = data;
    registration->spent = false;
    registration->pretended = false;
    registration->armed = true;
    sim__host_changed(registration->description->fds->host);
}

rt_err
sim_fd_add(struct sim_fds *fds, int fd, uint32_t events, uint64_t data)
{
    sim__fds_call(fds, "add");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_assert((events & ~ALL) == 0);
    if (find(fds, description, fd) != NULL) {
        return RT_E_BUSY;
    }
    if (sim__fault(fds->host, SIM_FAULT_CAPACITY)) {
        return RT_E_FULL;
    }
    struct sim__registration *registration = registration_new(fds);
    registration->description = description;
    registration->number = fd;
    registration->left_out = 0;
    sim_world_event(
            fds->host->world, SIM_EVENT_SUBSCRIBE, description->source->object, 0, 0, (uint64_t)fd);
    ask(registration, events, data);
    return RT_OK;
}

rt_err
sim_fd_modify(struct sim_fds *fds, int fd, uint32_t events, uint64_t data)
{
    sim__fds_call(fds, "modify");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_assert((events & ~ALL) == 0);
    struct sim__registration *registration = find(fds, description, fd);
    if (registration == NULL) {
        return RT_E_INVALID;
    }
    ask(registration, events, data);
    return RT_OK;
}

rt_err
sim_fd_remove(struct sim_fds *fds, int fd)
{
    sim__fds_call(fds, "remove");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    struct sim__registration *registration = find(fds, description, fd);
    if (registration == NULL) {
        return RT_E_INVALID;
    }
    sim_world_event(fds->host->world, SIM_EVENT_UNSUBSCRIBE, description->source->object, 0, 0,
            (uint64_t)fd);
    registration_free(fds, registration);
    return RT_OK;
}

void
sim__description_forget(struct sim__description *description)
{
    struct sim_fds *fds = description->fds;
    struct rt_list *node = fds->registrations.next;
    while (node != &fds->registrations) {
        struct sim__registration *registration = registration_of(node);
        node = node->next;
        if (registration->description == description) {
            registration_free(fds, registration);
        }
    }
}

/* ---- Fetching a batch. ----------------------------------------------------------------------- */

bool
sim__fds_ready(const struct sim_fds *fds)
{
    rt_list_each(node, &fds->registrations)
    {
        if (reportable(registration_of(node)) != 0) {
            return true;
        }
    }
    return false;
}

const char *
sim__fds_silence(const struct sim_source *source)
{
    uint32_t spent = 0;
    registrations_each(node, source->host)
    {
        const struct sim__registration *registration = registration_of(node);
        if (registration->description->source == source) {
            if (!registration->spent) {
                return NULL;
            }
            spent++;
        }
    }
    return spent > 0 ? "not reported: one-shot, and not armed again yet" : NULL;
}

struct sim_source *
sim__fds_pick(struct sim_fds *fds, uint64_t *ret_data)
{
    uint32_t n = 0;
    rt_list_each(node, &fds->registrations)
    {
        n += n < SIM_ALTERNATIVES_MAX;
    }
    if (n == 0) {
        return NULL;
    }
    uint32_t left = sim_actor_choose(&fds->host->actor, SIM_KIND_SPURIOUS, n, SIM_ODDS_EVEN);
    struct rt_list *node = fds->registrations.next;
    while (left-- > 0) {
        node = node->next;
    }
    *ret_data = registration_of(node)->data;
    return registration_of(node)->description->source;
}

static bool
any_ready(struct sim__blocked *blocked)
{
    struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    return sim__fds_ready(poller->fds);
}

static uint32_t
count_ready(struct sim_fds *fds, uint32_t *ret_length)
{
    uint32_t ready = 0;
    uint32_t length = 0;
    rt_list_each(node, &fds->registrations)
    {
        ready += reportable(registration_of(node)) != 0;
        length++;
    }
    *ret_length = length;
    return ready;
}

/* The index of a candidate is its place among all registrations. */
static void
collect(struct sim_fds *fds, struct sim__candidate *candidates)
{
    uint32_t place = 0;
    uint32_t count = 0;
    rt_list_each(node, &fds->registrations)
    {
        struct sim__registration *registration = registration_of(node);
        if (reportable(registration) != 0) {
            candidates[count++] = (struct sim__candidate){place, &registration->left_out};
        }
        place++;
    }
}

/* The counter of a candidate is a member of its registration. */
static struct sim__registration *
candidate_registration(const struct sim__candidate *candidate)
{
    return rt_container_of(candidate->left_out, struct sim__registration, left_out);
}

static void
report(struct sim_fds *fds, struct sim__registration *registration, struct sim_fd_event *ret)
{
    ret->events = reportable(registration);
    ret->data = registration->data;
    rt_assert(ret->events != 0);
    registration->armed = false;
    registration->pretended = false;
    registration->spent = (registration->interest & SIM_FD_ONESHOT) != 0;
    registration->reported_to = fds->host->world->current->index;
    rt_list_unlink(&registration->link);
    rt_list_push_back(&fds->registrations, &registration->link);
    sim_world_event(fds->host->world, SIM_EVENT_REPORT, registration->description->source->object,
            0, 0, (uint64_t)registration->number);
}

static uint32_t
fetch(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max)
{
    uint32_t length = 0;
    uint32_t ready = count_ready(fds, &length);
    if (ready == 0) {
        return 0;
    }
    struct sim__candidate *candidates = sim__candidates(fds->host, ready);
    collect(fds, candidates);
    uint32_t fetched = sim__batch(fds->host, candidates, ready, max);
    for (uint32_t i = 0; i < fetched; i++) {
        report(fds, candidate_registration(&candidates[i]), &ret_events[i]);
    }
    return fetched;
}

/* ---- Spurious reports. ----------------------------------------------------------------------- */

static bool
may_report_spuriously(const struct sim__registration *registration)
{
    return !registration->spent && (registration->interest & (SIM_FD_IN | SIM_FD_OUT)) != 0 &&
           holds(registration) == 0 &&
           sim__source_may_report_spuriously(registration->description->source);
}

/* The `nth` that may be reported spuriously, or NULL. */
static struct sim__registration *
find_spurious(struct sim_fds *fds, uint32_t nth)
{
    rt_list_each(node, &fds->registrations)
    {
        if (may_report_spuriously(registration_of(node)) && nth-- == 0) {
            return registration_of(node);
        }
    }
    return NULL;
}

static struct sim__registration *
draw_spurious(struct sim_fds *fds)
{
    struct sim_host *host = fds->host;
    uint64_t one_in = host->world->options.spurious_one_in;
    if (!sim__host_hostile(host) || one_in == 0) {
        return NULL;
    }
    uint32_t n = 1;
    while (n < SIM_ALTERNATIVES_MAX && find_spurious(fds, n - 1) != NULL) {
        n++;
    }
    uint32_t index = sim__perturb(&host->actor, SIM_KIND_SPURIOUS, n, one_in);
    return index == 0 ? NULL : find_spurious(fds, index - 1);
}

/* All of its interest is reported, as when another process has already taken what was there. */
static void
report_for_nothing(
        struct sim_fds *fds, struct sim__registration *spurious, struct sim_fd_event *ret)
{
    struct sim_source *source = spurious->description->source;
    source->spurious++;
    spurious->spent = (spurious->interest & SIM_FD_ONESHOT) != 0;
    sim_world_event(
            fds->host->world, SIM_EVENT_SPURIOUS, source->object, 0, 0, (uint64_t)spurious->number);
    *ret = (struct sim_fd_event){spurious->interest & (SIM_FD_IN | SIM_FD_OUT), spurious->data};
}

/* Returns how many are reported: 1, or 0 where there is no such candidate. */
static uint32_t
report_nth(struct sim_fds *fds, uint32_t nth, struct sim_fd_event *ret_events)
{
    struct sim__registration *spurious = find_spurious(fds, nth);
    if (spurious == NULL) {
        return 0;
    }
    report_for_nothing(fds, spurious, &ret_events[0]);
    return 1;
}

static uint32_t
fetch_hostile(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max)
{
    struct sim__registration *spurious = draw_spurious(fds);
    if (spurious == NULL) {
        return fetch(fds, ret_events, max);
    }
    report_for_nothing(fds, spurious, &ret_events[0]);
    return max == 1 ? 1 : 1 + fetch(fds, &ret_events[1], max - 1);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static void
block(struct sim_fds *fds, struct sim_loop *loop, uint64_t due_ns)
{
    struct sim__poller *poller = sim__poller_current(fds->host);
    struct sim_world *world = fds->host->world;
    uint32_t length = 0;
    (void)count_ready(fds, &length);
    poller->fds = fds;
    sim_world_event(world, SIM_EVENT_BLOCK, fds->object, 0, 0, length);
    sim__poller_block(poller, loop, any_ready, due_ns, fds->object, "descriptors", RT_HERE, length);
}

__attribute__((noreturn)) static void
fail_blocked(struct sim_fds *fds)
{
    struct sim_world *world = fds->host->world;
    sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current, 0,
            "sim_fd_wait would block, and its caller cannot: only a sim_loop can wait in the "
            "host");
}

uint32_t
sim__fds_fetch(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max)
{
    rt_check(fds, SIM__FDS_MAGIC);
    sim__watch(fds->host);
    sim_loop_pause(fds->host->world);
    return fetch(fds, ret_events, max);
}

uint32_t
sim_fd_wait(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max, uint64_t timeout_ns)
{
    rt_check(fds, SIM__FDS_MAGIC);
    rt_assert(ret_events != NULL);
    rt_assert(max > 0);
    struct sim_world *world = fds->host->world;
    sim__watch(fds->host);
    uint64_t due_ns = sim__later(sim_now(world), timeout_ns);
    sim_loop_pause(world);
    uint32_t fetched = fetch_hostile(fds, ret_events, max);
    if (fetched > 0 || timeout_ns == 0 || sim__fault(fds->host, SIM_FAULT_EINTR)) {
        return fetched;
    }
    struct sim_loop *loop = sim_loop_current(world);
    if (loop == NULL) {
        fail_blocked(fds);
    }
    bool interrupted = false;
    while (fetched == 0 && sim_now(world) < due_ns && !interrupted) {
        block(fds, loop, due_ns);
        fetched = fetch(fds, ret_events, max);
        interrupted = sim_loop_was_interrupted(loop);
        uint32_t nth = sim_loop_spurious_report(loop);
        if (fetched == 0 && nth > 0) {
            fetched = report_nth(fds, nth - 1, ret_events);
            interrupted = fetched > 0; /* A wait without a timeout must not return 0 here. */
        }
    }
    sim_world_event(world, SIM_EVENT_UNBLOCK, fds->object, 0, 0, fetched);
    return fetched;
}

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
#include "sim/host/sys.h"
#include "sim/host/sys_priv.h"

/* Reports in a row that have only some of what has changed. */
#define PARTED_MAX 2u

#define UNASKED (SIM_FD_ERR | SIM_FD_HUP)
#define ALL \
    (SIM_FD_IN | SIM_FD_OUT | SIM_FD_RDHUP | SIM_FD_PRI | UNASKED | SIM_FD_EDGE | SIM_FD_ONESHOT | \
            SIM_FD_EXCLUSIVE)

/* Reported only after a change: of several EXCLUSIVE ones a change may reach one only. */
#define NEEDS_EDGE (SIM_FD_EDGE | SIM_FD_EXCLUSIVE)

/* ---- What is ready. -------------------------------------------------------------------------- */

/* The events of its interest that hold, whether or not they are to be reported now. */
uint32_t
sim__registration_holds(const struct sim__registration *registration)
{
    uint32_t asked = registration->interest | UNASKED;
    return sim__description_events(registration->description) & asked;
}

/* What may be reported for nothing. A socket of sys_inet.h that is connecting, reported as OUT,
 * would be taken for connected. */
static uint32_t
reported_for_nothing(const struct sim__registration *registration)
{
    bool of_sys = registration->description->ops->sys != NULL;
    return registration->interest & (of_sys ? SIM_FD_IN : SIM_FD_IN | SIM_FD_OUT);
}

static uint32_t
reportable(const struct sim__registration *registration)
{
    bool silent = registration->spent ||
                  ((registration->interest & NEEDS_EDGE) != 0 && !registration->armed);
    if (registration->pretended) {
        return sim__registration_holds(registration) | reported_for_nothing(registration);
    }
    return silent ? 0 : sim__registration_holds(registration);
}

/* It is among those that a change with `events` is for. */
static bool
concerned(const struct sim__registration *registration, const struct sim__description *description,
        uint32_t events)
{
    return registration->description == description && !registration->spent &&
           (events & (registration->interest | UNASKED)) != 0;
}

/* What an instance reports has changed: for those that watch it, and so on outwards. */
static void
edge_outwards(const struct sim__epoll *epoll)
{
    if (epoll->description != NULL) {
        sim__description_edge(epoll->description, SIM_FD_IN);
    }
}

static void
arm(struct sim__registration *registration, uint32_t events)
{
    registration->armed = true;
    registration->changed |= events;
    edge_outwards(registration->epoll);
}

/* A change reaches at least one of the EXCLUSIVE registrations: the next one too, or not, by a
 * decision. */
static bool
reaches_next(struct sim__description *description)
{
    struct sim_actor *actor = &description->source->actor;
    return sim_actor_choose(actor, SIM_KIND_SUBSET, 2, SIM_ODDS_EVEN) == 0;
}

void
sim__description_edge(struct sim__description *description, uint32_t events)
{
    bool reached = false;
    sim__registrations_of(node, description->fds)
    {
        struct sim__registration *registration = sim__registration_of(node);
        if (!concerned(registration, description, events)) {
            continue;
        }
        bool exclusive = (registration->interest & SIM_FD_EXCLUSIVE) != 0;
        if (exclusive && reached && !reaches_next(description)) {
            continue;
        }
        arm(registration, events);
        reached = reached || exclusive;
    }
}

void
sim__fds_renew(struct sim_host *host)
{
    sim__registrations_each(node, host)
    {
        sim__registration_of(node)->armed = true;
    }
}

void
sim__fds_pretend(void *host)
{
    const struct sim_host *all = host;
    sim__registrations_each(node, all)
    {
        sim__registration_of(node)->pretended = !sim__registration_of(node)->spent;
    }
    sim__host_changed(host);
}

/* ---- Interest. ------------------------------------------------------------------------------- */

static struct sim__registration *
find(struct sim__epoll *epoll, const struct sim__description *description, int fd)
{
    rt_list_each(node, &epoll->registrations)
    {
        struct sim__registration *registration = sim__registration_of(node);
        if (registration->description == description && registration->number == fd) {
            return registration;
        }
    }
    return NULL;
}

static struct sim__registration *
registration_new(struct sim__epoll *epoll)
{
    struct rt_list *spare = rt_list_pop_front(&epoll->fds->spare);
    struct sim__registration *registration =
            spare != NULL ? sim__registration_of(spare)
                          : sim_new(epoll->fds->host->world, struct sim__registration);
    rt_list_init(&registration->link);
    rt_list_push_back(&epoll->registrations, &registration->link);
    epoll->length++;
    registration->epoll = epoll;
    return registration;
}

static void
registration_free(struct sim__registration *registration)
{
    registration->description = NULL;
    rt_list_unlink(&registration->link);
    registration->epoll->length--;
    rt_list_push_back(&registration->epoll->fds->spare, &registration->link);
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
    registration->changed = sim__registration_holds(registration);
    if (sim__registration_holds(registration) != 0) {
        edge_outwards(registration->epoll);
    }
    sim__host_changed(registration->description->fds->host);
}

rt_err
sim__epoll_add(struct sim__epoll *epoll, int fd, uint32_t events, uint64_t data)
{
    struct sim_fds *fds = epoll->fds;
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_assert((events & ~ALL) == 0);
    if (find(epoll, description, fd) != NULL) {
        return RT_E_BUSY;
    }
    if (sim__fault(fds->host, SIM_FAULT_CAPACITY)) {
        return RT_E_FULL;
    }
    struct sim__registration *registration = registration_new(epoll);
    registration->description = description;
    registration->number = fd;
    registration->left_out = 0;
    sim_world_event(
            fds->host->world, SIM_EVENT_SUBSCRIBE, description->source->object, 0, 0, (uint64_t)fd);
    ask(registration, events, data);
    return RT_OK;
}

/* The registration of `fd`: RT_E_STALE where it is not open, RT_E_INVALID where there is none. */
static rt_err
find_open(struct sim__epoll *epoll, int fd, struct sim__registration **ret)
{
    struct sim__description *description = sim__fd_get(epoll->fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    *ret = find(epoll, description, fd);
    return *ret != NULL ? RT_OK : RT_E_INVALID;
}

rt_err
sim__epoll_modify(struct sim__epoll *epoll, int fd, uint32_t events, uint64_t data)
{
    struct sim__registration *registration = NULL;
    rt_assert((events & ~ALL) == 0);
    rt_err err = find_open(epoll, fd, &registration);
    if (err == RT_OK && (registration->interest & SIM_FD_EXCLUSIVE) != 0) {
        return RT_E_BUSY;
    }
    if (err == RT_OK) {
        ask(registration, events, data);
    }
    return err;
}

rt_err
sim__epoll_remove(struct sim__epoll *epoll, int fd)
{
    struct sim__registration *registration = NULL;
    rt_err err = find_open(epoll, fd, &registration);
    if (err == RT_OK) {
        sim_world_event(epoll->fds->host->world, SIM_EVENT_UNSUBSCRIBE,
                registration->description->source->object, 0, 0, (uint64_t)fd);
        registration_free(registration);
    }
    return err;
}

/* Of a scenario: the system calls on epoll record themselves. */
static rt_err
note(const struct sim_fds *fds, uint32_t number, int fd, uint32_t events, rt_err err)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    const struct sim_call call = {
            .number = number, .value = events, .fd = (uint32_t)fd, .error = (uint32_t)-err};
    sim_world_called(
            fds->host->world, &call, description != NULL ? description->source->object : 0, 0);
    return err;
}

rt_err
sim_fd_add(struct sim_fds *fds, int fd, uint32_t events, uint64_t data)
{
    sim__fds_call(fds, "add");
    return note(fds, SIM_CALL_sim_fd_add, fd, events, sim__epoll_add(&fds->own, fd, events, data));
}

rt_err
sim_fd_modify(struct sim_fds *fds, int fd, uint32_t events, uint64_t data)
{
    sim__fds_call(fds, "modify");
    return note(fds, SIM_CALL_sim_fd_modify, fd, events,
            sim__epoll_modify(&fds->own, fd, events, data));
}

rt_err
sim_fd_remove(struct sim_fds *fds, int fd)
{
    sim__fds_call(fds, "remove");
    return note(fds, SIM_CALL_sim_fd_remove, fd, 0, sim__epoll_remove(&fds->own, fd));
}

static void
forget_in(struct sim__epoll *epoll, const struct sim__description *description)
{
    struct rt_list *node = epoll->registrations.next;
    while (node != &epoll->registrations) {
        struct sim__registration *registration = sim__registration_of(node);
        node = node->next;
        if (description == NULL || registration->description == description) {
            registration_free(registration);
        }
    }
}

void
sim__description_forget(struct sim__description *description)
{
    rt_list_each(instance, &description->fds->interests)
    {
        forget_in(sim__epoll_of(instance), description);
    }
}

void
sim__epoll_init(struct sim__epoll *epoll, struct sim_fds *fds, uint32_t object)
{
    epoll->fds = fds;
    epoll->object = object;
    rt_list_init(&epoll->registrations);
    rt_list_push_back(&fds->interests, &epoll->link);
}

void
sim__epoll_fini(struct sim__epoll *epoll)
{
    forget_in(epoll, NULL);
    rt_list_unlink(&epoll->link);
}

/* ---- Fetching a batch. ----------------------------------------------------------------------- */

bool
sim__epoll_ready(const struct sim__epoll *epoll)
{
    rt_list_each(node, &epoll->registrations)
    {
        if (reportable(sim__registration_of(node)) != 0) {
            return true;
        }
    }
    return false;
}

const char *
sim__fds_silence(const struct sim_source *source)
{
    uint32_t spent = 0;
    sim__registrations_each(node, source->host)
    {
        const struct sim__registration *registration = sim__registration_of(node);
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
    rt_list_each(node, &fds->own.registrations)
    {
        n += n < SIM_ALTERNATIVES_MAX;
    }
    if (n == 0) {
        return NULL;
    }
    uint32_t left = sim_actor_choose(&fds->host->actor, SIM_KIND_SPURIOUS, n, SIM_ODDS_EVEN);
    struct rt_list *node = fds->own.registrations.next;
    while (left-- > 0) {
        node = node->next;
    }
    *ret_data = sim__registration_of(node)->data;
    return sim__registration_of(node)->description->source;
}

static bool
any_ready(struct sim__blocked *blocked)
{
    struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    return sim__epoll_ready(poller->epoll);
}

bool
sim__epoll_waits_for(const struct sim__blocked *blocked, const struct sim__description *description)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    return blocked->ready == any_ready && sim__epoll_watches(poller->epoll, description);
}

static uint32_t
count_ready(struct sim__epoll *epoll, uint32_t *ret_length)
{
    uint32_t ready = 0;
    uint32_t length = 0;
    rt_list_each(node, &epoll->registrations)
    {
        ready += reportable(sim__registration_of(node)) != 0;
        length++;
    }
    *ret_length = length;
    return ready;
}

/* The index of a candidate is its place among all registrations. */
static void
collect(struct sim__epoll *epoll, struct sim__candidate *candidates)
{
    uint32_t place = 0;
    uint32_t count = 0;
    rt_list_each(node, &epoll->registrations)
    {
        struct sim__registration *registration = sim__registration_of(node);
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
report(struct sim__registration *registration, struct sim_fd_event *ret)
{
    struct sim__epoll *epoll = registration->epoll;
    struct sim_world *world = epoll->fds->host->world;
    ret->events = reportable(registration);
    ret->data = registration->data;
    rt_assert(ret->events != 0);
    registration->armed = (registration->interest & NEEDS_EDGE) == SIM_FD_EXCLUSIVE;
    registration->pretended = false;
    registration->spent = (registration->interest & SIM_FD_ONESHOT) != 0;
    rt_list_unlink(&registration->link);
    rt_list_push_back(&epoll->registrations, &registration->link);
    sim_world_event(world, SIM_EVENT_REPORT, registration->description->source->object, 0, 0,
            (uint64_t)registration->number);
}

uint32_t
sim__epoll_fetch(struct sim__epoll *epoll, struct sim_fd_event *ret_events, uint32_t max, bool all)
{
    struct sim_host *host = epoll->fds->host;
    uint32_t length = 0;
    uint32_t ready = count_ready(epoll, &length);
    if (ready == 0) {
        return 0;
    }
    struct sim__candidate *candidates = sim__candidates(host, ready);
    collect(epoll, candidates);
    uint32_t fetched = all ? sim__batch_all(host, candidates, ready, max)
                           : sim__batch(host, candidates, ready, max);
    for (uint32_t i = 0; i < fetched; i++) {
        report(candidate_registration(&candidates[i]), &ret_events[i]);
    }
    return fetched;
}

/* ---- Spurious reports. ----------------------------------------------------------------------- */

static bool
may_report_spuriously(const struct sim__registration *registration)
{
    const struct sim__description *description = registration->description;
    bool blocks = description->ops->sys != NULL && (description->status & SIM_SYS_NONBLOCK) == 0;
    return !registration->spent && !blocks && reported_for_nothing(registration) != 0 &&
           sim__registration_holds(registration) == 0 &&
           sim__source_may_report_spuriously(registration->description->source);
}

/* The `nth` that may be reported spuriously, or NULL. */
static struct sim__registration *
find_spurious(struct sim__epoll *epoll, uint32_t nth)
{
    rt_list_each(node, &epoll->registrations)
    {
        if (may_report_spuriously(sim__registration_of(node)) && nth-- == 0) {
            return sim__registration_of(node);
        }
    }
    return NULL;
}

uint32_t
sim__epoll_report_of(const struct sim__blocked *blocked, const struct sim__description *description)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    uint32_t nth = 0;
    rt_list_each(node, &poller->epoll->registrations)
    {
        const struct sim__registration *registration = sim__registration_of(node);
        bool may = may_report_spuriously(registration);
        nth += may;
        if (may && registration->description == description) {
            return nth;
        }
    }
    return 0;
}

static struct sim__registration *
draw_spurious(struct sim__epoll *epoll)
{
    struct sim_host *host = epoll->fds->host;
    uint64_t one_in = host->world->options.spurious_one_in;
    if (!sim__host_hostile(host) || one_in == 0) {
        return NULL;
    }
    uint32_t n = 1;
    while (n < SIM_ALTERNATIVES_MAX && find_spurious(epoll, n - 1) != NULL) {
        n++;
    }
    uint32_t index = sim__perturb(&host->actor, SIM_KIND_SPURIOUS, n, one_in);
    return index == 0 ? NULL : find_spurious(epoll, index - 1);
}

/* All of its interest is reported, as when another process has already taken what was there. */
static void
report_for_nothing(struct sim__registration *spurious, struct sim_fd_event *ret)
{
    struct sim_source *source = spurious->description->source;
    source->spurious++;
    spurious->spent = (spurious->interest & SIM_FD_ONESHOT) != 0;
    sim_world_event(source->host->world, SIM_EVENT_SPURIOUS, source->object, 0, 0,
            (uint64_t)spurious->number);
    *ret = (struct sim_fd_event){reported_for_nothing(spurious), spurious->data};
}

uint32_t
sim__epoll_report_nth(struct sim__epoll *epoll, uint32_t nth, struct sim_fd_event *ret_events)
{
    struct sim__registration *spurious = find_spurious(epoll, nth);
    if (spurious == NULL) {
        return 0;
    }
    report_for_nothing(spurious, &ret_events[0]);
    return 1;
}

static uint32_t
fetch_hostile(struct sim__epoll *epoll, struct sim_fd_event *ret_events, uint32_t max)
{
    struct sim__registration *spurious = draw_spurious(epoll);
    if (spurious == NULL) {
        return sim__epoll_fetch(epoll, ret_events, max, false);
    }
    report_for_nothing(spurious, &ret_events[0]);
    return max == 1 ? 1 : 1 + sim__epoll_fetch(epoll, &ret_events[1], max - 1, false);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

bool
sim__epoll_outside(const struct sim__epoll *epoll)
{
    rt_list_each(node, &epoll->registrations)
    {
        const struct sim__registration *registration =
                rt_container_of(node, struct sim__registration, link);
        if ((registration->interest & SIM_FD_IN) != 0 &&
                sim__description_outside(registration->description)) {
            return true;
        }
    }
    return false;
}

int
sim__epoll_block(struct sim__epoll *epoll, uint64_t due_ns, const struct rt_site *await)
{
    struct sim_host *host = epoll->fds->host;
    struct sim__poller *poller = sim__poller_current(host);
    uint32_t length = 0;
    (void)count_ready(epoll, &length);
    poller->epoll = epoll;
    poller->outside = sim__epoll_outside(epoll);
    sim_world_event(host->world, SIM_EVENT_BLOCK, epoll->object, 0, 0, length);
    return sim__poller_block(
            poller, any_ready, due_ns, epoll->object, "descriptors", await, length);
}

__attribute__((noreturn)) static void
fail_blocked(struct sim__epoll *epoll)
{
    struct sim_world *world = epoll->fds->host->world;
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
    return sim__epoll_fetch(&fds->own, ret_events, max, false);
}

/* Of the bits that are set in `of`, those that are set in `index`, counted from the lowest. */
static uint32_t
subset(uint32_t of, uint32_t index)
{
    uint32_t bits = 0;
    for (uint32_t bit = 1; bit <= of; bit <<= 1) {
        if ((of & bit) != 0) {
            bits |= (index & 1u) != 0 ? bit : 0;
            index >>= 1;
        }
    }
    return bits;
}

static struct sim__registration *
registration_with(struct sim__epoll *epoll, uint64_t data)
{
    rt_list_each(node, &epoll->registrations)
    {
        if (sim__registration_of(node)->data == data) {
            return sim__registration_of(node);
        }
    }
    rt_unreached("what was reported is registered");
}

/* The events that `directions`, of SIM_FD_IN and SIM_FD_OUT, wait for: errors and hang-ups are of
 * both. */
static uint32_t
events_of(uint32_t directions)
{
    uint32_t events = directions != 0 ? directions | UNASKED : 0;
    return (directions & SIM_FD_IN) != 0 ? events | SIM_FD_RDHUP : events;
}

/* What is owed once `events` were reported. */
static uint32_t
pay(uint32_t owed, uint32_t events)
{
    uint32_t paid = (events & events_of(SIM_FD_IN)) != 0 ? SIM_FD_IN : 0;
    paid |= (events & events_of(SIM_FD_OUT)) != 0 ? SIM_FD_OUT : 0;
    return owed & ~paid;
}

/* How much of `changed` is reported: 0: all that holds; then its subsets; the last one, nothing,
 * only where none of it is owed. */
static uint32_t
choose_part(struct sim__registration *registration, uint32_t changed, bool owed)
{
    static const struct sim_odds odds = {1, 4};
    if (changed == 0 || registration->parted >= PARTED_MAX) {
        return 0;
    }
    uint32_t subsets = 1u << (uint32_t)__builtin_popcount(changed);
    struct sim_actor *actor = &registration->epoll->fds->host->actor;
    return sim_actor_choose(actor, SIM_KIND_SUBSET, subsets + (owed ? 0 : 1), odds);
}

bool
sim__fds_part(struct sim_fds *fds, struct sim_fd_event *event)
{
    struct sim__registration *registration = registration_with(&fds->own, event->data);
    struct sim__description *description = registration->description;
    uint32_t changed = registration->changed & event->events;
    uint32_t owed = changed & events_of(description->owed);
    uint32_t index = choose_part(registration, changed, owed != 0);
    registration->changed = 0;
    if (index != 0) {
        event->events = subset(changed, index); /* Of an index beyond the subsets: nothing. */
        registration->changed = owed & ~event->events;
        registration->armed = registration->changed != 0;
    }
    registration->parted = registration->changed == 0 ? 0 : registration->parted + 1;
    description->owed = pay(description->owed, event->events);
    return event->events != 0;
}

uint32_t
sim_fd_wait(struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max, uint64_t timeout_ns)
{
    rt_check(fds, SIM__FDS_MAGIC);
    rt_assert(ret_events != NULL);
    rt_assert(max > 0);
    struct sim__epoll *epoll = &fds->own;
    struct sim_world *world = fds->host->world;
    sim__watch(fds->host);
    uint64_t due_ns = sim__later(sim_now(world), timeout_ns);
    sim_loop_pause(world);
    uint32_t fetched = fetch_hostile(epoll, ret_events, max);
    if (fetched > 0 || timeout_ns == 0 || sim__fault(fds->host, SIM_FAULT_EINTR)) {
        return fetched;
    }
    if (sim_loop_current(world) == NULL) {
        fail_blocked(epoll);
    }
    bool interrupted = false;
    while (fetched == 0 && sim_now(world) < due_ns && !interrupted) {
        int how = sim__epoll_block(epoll, due_ns, RT_HERE);
        fetched = sim__epoll_fetch(epoll, ret_events, max, false);
        interrupted = how != 0;
        if (fetched == 0 && how > 0) {
            fetched = sim__epoll_report_nth(epoll, (uint32_t)how - 1, ret_events);
            interrupted = fetched > 0; /* A wait without a timeout must not return 0 here. */
        }
    }
    sim_world_event(world, SIM_EVENT_UNBLOCK, epoll->object, 0, 0, fetched);
    return fetched;
}

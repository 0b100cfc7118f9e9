/*
 * silence.c -- what a blocked actor may wait for, and why nothing is reported of it.
 *
 * Asked for by explanations: what is silent here is reported in a replay (ask_again), and the actor
 * makes progress or does not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd_priv.h"
#include "sim/host/sys_priv.h"

/* ---- Who waits for it. ----------------------------------------------------------------------- */

static bool
waits_for(const struct sim__blocked *blocked, const struct sim__description *description)
{
    return sim__epoll_waits_for(blocked, description) || sim__sys_waits_for(blocked, description) ||
           sim__list_waits_for(blocked, description, description->source);
}

/* The first that is blocked in the host on it; NULL: none is. */
static const struct sim__blocked *
blocked_on(const struct sim__description *description)
{
    rt_list_each(node, &description->fds->host->blocked)
    {
        const struct sim__blocked *blocked = rt_container_of(node, struct sim__blocked, link);
        if (waits_for(blocked, description)) {
            return blocked;
        }
    }
    return NULL;
}

/* The index of that actor; 0: none is. */
static uint32_t
waiter_of(const struct sim__description *description)
{
    const struct sim__blocked *blocked = blocked_on(description);
    return blocked != NULL ? blocked->actor->index : 0;
}

/* Which of the reports for nothing that this actor may get is that of it; 0: none. */
static uint32_t
report_of(const struct sim__blocked *blocked, const struct sim__description *description)
{
    return sim__epoll_waits_for(blocked, description) ? sim__epoll_report_of(blocked, description)
                                                      : sim__sys_report_of(blocked, description);
}

/* ---- What there is. -------------------------------------------------------------------------- */

struct listing {
    struct sim_silence *ret;
    uint32_t nth;
    uint32_t count;
    uint32_t report; /* TAKEN */
};

static void
list(struct listing *listing, uint32_t kind, const struct sim__description *description,
        uint32_t events)
{
    if (listing->count++ == listing->nth) {
        uint32_t (*left)(const struct sim__description *) = description->ops->left;
        *listing->ret = (struct sim_silence){.kind = kind,
                .object = description->source->object,
                .waiter = waiter_of(description),
                .events = events,
                .left = left != NULL ? left(description) : 0,
                .nth = listing->report};
    }
}

/* A read that took several writes. */
static void
list_merged(struct listing *listing, const struct sim__description *description,
        const struct sim__merged *merged)
{
    if (merged->writes > 1 && listing->count++ == listing->nth) {
        *listing->ret = (struct sim_silence){.kind = SIM_SILENT_COUNTED,
                .object = description->source->object,
                .waiter = waiter_of(description),
                .events = SIM_FD_IN,
                .left = merged->writes,
                .step = merged->step};
    }
}

/* The events that are not reported for this reason; 0: none. */
static uint32_t
silent_events(const struct sim__registration *registration, uint32_t kind)
{
    uint32_t ready = sim__description_events(registration->description);
    /* There is mostly space: only who was refused waits for it. */
    uint32_t ways = SIM_FD_IN | (registration->description->refused ? SIM_FD_OUT : 0);
    bool edge = (registration->interest & SIM_FD_EDGE) != 0 && !registration->armed;
    return kind == SIM_SILENT_SPENT
                   ? (registration->spent ? sim__registration_holds(registration) : 0)
           : kind == SIM_SILENT_EDGE
                   ? (edge ? sim__registration_holds(registration) & SIM_FD_IN : 0)
           : registration->spent ? 0
                                 : ready & ways & ~registration->interest;
}

static void
list_registered(const struct sim_host *host, struct listing *listing, uint32_t kind)
{
    sim__registrations_each(node, host)
    {
        const struct sim__registration *registration = sim__registration_of(node);
        uint32_t events = silent_events(registration, kind);
        if (events != 0) {
            list(listing, kind, registration->description, events);
        }
    }
}

static bool
is_disarmed(const struct sim__description *description)
{
    const struct sim__sys_ops *sys = description->ops->sys;
    return sys != NULL && sys->disarmed != NULL && sys->disarmed(description) &&
           waiter_of(description) != 0;
}

/* Those that a wait needs not be registered for. */
static void
list_open(const struct sim_host *host, struct listing *listing)
{
    rt_list_each(table, &host->tables)
    {
        const struct sim_fds *fds = rt_container_of(table, struct sim_fds, link);
        for (size_t i = 0; i < fds->capacity; i++) {
            const struct sim__description *description = fds->numbers[i];
            if (description == NULL) {
                continue;
            }
            if (is_disarmed(description)) {
                list(listing, SIM_SILENT_TIMER, description, SIM_FD_IN);
            }
            list_merged(listing, description, &description->last_merged);
            if (description->first_merged.step != description->last_merged.step) {
                list_merged(listing, description, &description->first_merged);
            }
        }
    }
}

static void
list_unwatched(const struct sim_host *host, struct listing *listing)
{
    rt_list_each(table, &host->tables)
    {
        const struct sim_fds *fds = rt_container_of(table, struct sim_fds, link);
        for (size_t i = 0; i < fds->capacity; i++) {
            const struct sim__description *description = fds->numbers[i];
            if (description != NULL && description->ops->left != NULL &&
                    (sim__description_events(description) & SIM_FD_IN) != 0 &&
                    description->ops->left(description) > 0 && waiter_of(description) == 0) {
                list(listing, SIM_SILENT_UNWATCHED, description, SIM_FD_IN);
            }
        }
    }
}

static void
list_taken(const struct sim_host *host, struct listing *listing)
{
    rt_list_each(table, &host->tables)
    {
        const struct sim_fds *fds = rt_container_of(table, struct sim_fds, link);
        for (size_t i = 0; i < fds->capacity; i++) {
            const struct sim__description *description = fds->numbers[i];
            const struct sim__blocked *blocked =
                    description != NULL ? blocked_on(description) : NULL;
            listing->report = blocked != NULL ? report_of(blocked, description) : 0;
            if (listing->report != 0) {
                list(listing, SIM_SILENT_TAKEN, description, SIM_FD_IN);
            }
        }
    }
}

uint32_t
sim__fds_silences(void *argument, uint32_t nth, struct sim_silence *ret)
{
    const struct sim_host *host = argument;
    struct listing listing = {ret, nth, 0, 0};
    list_registered(host, &listing, SIM_SILENT_SPENT);
    list_registered(host, &listing, SIM_SILENT_EDGE);
    list_open(host, &listing);
    list_registered(host, &listing, SIM_SILENT_UNASKED);
    list_unwatched(host, &listing);
    list_taken(host, &listing);
    return listing.count;
}

/* ---- It is reported. ------------------------------------------------------------------------- */

static void
report_registered(struct sim_host *host, const struct sim_silence *silence)
{
    sim__registrations_each(node, host)
    {
        struct sim__registration *registration = sim__registration_of(node);
        if (registration->description->source->object == silence->object &&
                silent_events(registration, silence->kind) != 0) {
            registration->interest |= silence->events;
            registration->spent = false;
            registration->armed = true;
        }
    }
    sim__host_changed(host);
}

static void
report_open(struct sim_host *host, const struct sim_silence *silence)
{
    rt_list_each(table, &host->tables)
    {
        const struct sim_fds *fds = rt_container_of(table, struct sim_fds, link);
        for (size_t i = 0; i < fds->capacity; i++) {
            struct sim__description *description = fds->numbers[i];
            if (description == NULL || description->source->object != silence->object) {
                continue;
            }
            if (silence->kind == SIM_SILENT_TIMER) {
                description->ops->sys->rearm(description);
            } else {
                description->ops->repeat(description, silence->left - 1);
            }
            return;
        }
    }
}

void
sim__fds_ask_again(void *argument, const struct sim_silence *silence)
{
    struct sim_host *host = argument;
    switch (silence->kind) {
    case SIM_SILENT_TIMER:
    case SIM_SILENT_COUNTED:
        report_open(host, silence);
        return;
    case SIM_SILENT_SPENT:
    case SIM_SILENT_EDGE:
    case SIM_SILENT_UNASKED:
        report_registered(host, silence);
        return;
    default: /* Of a ring, or there is nothing to put right. */
        return;
    }
}

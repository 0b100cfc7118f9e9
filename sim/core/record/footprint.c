/*
 * footprint.c -- the table of footprint.h, by kind of event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/footprint.h"

#define READ SIM_MODE_READ
#define ADD SIM_MODE_ADD
#define WRITE SIM_MODE_WRITE
#define ALSO(what, how) \
    { \
        SIM_RESOURCE_##what, how \
    }

const struct sim_footprint sim_footprints[256] = {
        /* Tasks. */
        [RT_PROBE_POST] = {.object = WRITE},
        [RT_PROBE_POLL] = {.object = WRITE},
        [RT_PROBE_WAKE] = {.object = WRITE},
        [RT_PROBE_COMPLETE] = {.object = WRITE, .also = {ALSO(GONE, READ)}},
        [RT_PROBE_CANCEL] = {.object = WRITE, .also = {ALSO(GONE, READ)}},
        [RT_PROBE_PARK] = {.object = WRITE, .also = {ALSO(GONE, READ)}},
        [RT_PROBE_WAKE_DEAD] = {.object = READ, .also = {ALSO(GONE, ADD)}},
        [RT_PROBE_YIELD] = {.also = {ALSO(TIME, READ)}},
        [RT_PROBE_ASK] = {.also = {ALSO(TIME, READ)}},

        /* Slots and combinators. */
        [RT_PROBE_STORE] = {.object = WRITE},
        [RT_PROBE_KEEP] = {.object = WRITE},
        [RT_PROBE_REPLACE] = {.object = WRITE},
        [RT_PROBE_FIRE] = {.object = WRITE},
        [RT_PROBE_FIRE_EMPTY] = {.object = READ},
        [RT_PROBE_ERASE] = {.object = WRITE},
        [SIM_EVENT_FREE] = {.object = WRITE},
        [RT_PROBE_SUBWAKE] = {.object = WRITE},

        /* Time. */
        [RT_PROBE_ARM] = {.object = WRITE, .also = {ALSO(TIME, WRITE)}},
        [RT_PROBE_EXPIRE] = {.object = WRITE, .also = {ALSO(TIME, READ)}},
        [RT_PROBE_DISARM] = {.object = WRITE, .also = {ALSO(TIME, READ)}},
        [SIM_EVENT_SLOW] = {.also = {ALSO(TIME, WRITE)}},
        [SIM_EVENT_CLOCK] = {.also = {ALSO(QUIET, WRITE)}},
        [SIM_EVENT_STEP] = {.also = {ALSO(QUIET, READ)}},

        /* Primitives. */
        [RT_PROBE_CONSUME] = {.object = WRITE},
        [RT_PROBE_PUT] = {.object = WRITE},
        [RT_PROBE_GRANT] = {.object = WRITE},
        [RT_PROBE_UNGRANT] = {.object = WRITE},
        [RT_PROBE_SHUT] = {.object = WRITE},
        [RT_PROBE_DESTROY] = {.object = WRITE},
        [RT_PROBE_REFUSE] = {.object = READ},
        [RT_PROBE_MERGE] = {.object = WRITE},
        [RT_PROBE_UNHEARD] = {.object = WRITE},
        [RT_PROBE_LISTEN] = {.object = WRITE},
        [RT_PROBE_UNLISTEN] = {.object = WRITE},
        [RT_PROBE_SUBMIT] = {.object = WRITE},
        [RT_PROBE_DONE] = {.object = WRITE},
        [RT_PROBE_SUSPEND] = {.object = WRITE},
        [RT_PROBE_RESUME] = {.object = WRITE},
        [SIM_EVENT_GET] = {.object = READ},
        [SIM_EVENT_SET] = {.object = WRITE},
        [SIM_EVENT_ASSIGN] = {.object = WRITE},
        [SIM_EVENT_WANTED] = {.object = WRITE},
        [SIM_EVENT_GRANTED] = {.object = WRITE},
        [SIM_EVENT_RELEASED] = {.object = WRITE},

        /* The host. */
        [RT_PROBE_WAIT] = {.object = WRITE},
        [RT_PROBE_UNWAIT] = {.object = WRITE},
        [RT_PROBE_TURN] = {.also = {ALSO(READINESS, READ)}},
        [SIM_EVENT_BLOCK] = {.also = {ALSO(READINESS, READ)}},
        [SIM_EVENT_UNBLOCK] = {.also = {ALSO(READINESS, READ)}},
        [SIM_EVENT_READY] = {.object = WRITE, .also = {ALSO(READINESS, ADD), ALSO(TRAFFIC, READ)}},
        [SIM_EVENT_UNREADY] = {.object = WRITE,
                .also = {ALSO(READINESS, ADD), ALSO(TRAFFIC, READ)}},
        [SIM_EVENT_REPORT] = {.object = WRITE},
        [SIM_EVENT_SPURIOUS] = {.object = WRITE},
        [SIM_EVENT_SUBSCRIBE] = {.object = WRITE},
        [SIM_EVENT_UNSUBSCRIBE] = {.object = WRITE},
        [SIM_EVENT_READ] = {.object = WRITE},
        [SIM_EVENT_WRITE] = {.object = WRITE, .also = {ALSO(TRAFFIC, ADD)}},
        [SIM_EVENT_OPEN] = {.object = WRITE, .also = {ALSO(DESCRIPTORS, WRITE)}},
        [SIM_EVENT_CALL] = {.object = WRITE},
        [SIM_EVENT_CLOSE] = {.object = WRITE, .also = {ALSO(DESCRIPTORS, WRITE)}},
};

bool
sim_access_sets_conflict(
        const struct sim_access *a, uint32_t count_a, const struct sim_access *b, uint32_t count_b)
{
    for (uint32_t i = 0; i < count_a; i++) {
        for (uint32_t k = 0; k < count_b; k++) {
            if (sim_accesses_conflict(a[i], b[k])) {
                return true;
            }
        }
    }
    return false;
}

bool
sim_events_conflict(const struct sim_event *a, const struct sim_event *b)
{
    struct sim_access of_a[SIM_ACCESSES_MAX];
    struct sim_access of_b[SIM_ACCESSES_MAX];
    uint32_t count_a = sim_event_accesses(a, of_a);
    uint32_t count_b = sim_event_accesses(b, of_b);
    return sim_access_sets_conflict(of_a, count_a, of_b, count_b);
}

/*
 * readiness.h -- what is known of one direction of a source that reports edges.
 *
 * A host that reports changes reports each one once. So the source records the
 * event until an operation finds that it is no longer true:
 *
 *                        event: bits are ORed in, the tick goes up
 *                      ┌──────────────────────────────────────────────┐
 *                      ▼                                              │
 *      known to be ready ── operation: RT_E_AGAIN, clear(seen) ──▶ not known to be ready
 *            │    ▲
 *            └────┘ operation: something moved, however little; an event came since `seen`
 *
 * 1. An event ORs its bits in, and the tick goes up (E1).
 * 2. A task that wants to try an operation gets the bits and the tick: what it has *seen*.
 * 3. Only an operation that answered RT_E_AGAIN clears, and only what it had seen: a tick that is
 *    higher means an event after that, whose edge is not reported again (E1).
 * 4. CLOSED and SHUTDOWN are never cleared: nothing follows them (E2, E10).
 *
 * A short read clears nothing: more may be there, and no edge would report it (E4).
 *
 * One word a direction. With one tick for both, the events of a busy writer would keep every
 * reader from clearing, which would then retry forever (tokio#8054). The tick is 64 bits wide: a
 * narrow one wraps, and a stale snapshot passes for a current one (tokio#6133).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_READINESS_H
#define RT_IO_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rt_direction { RT_DIRECTION_READ, RT_DIRECTION_WRITE };
#define RT_DIRECTIONS 2

#define RT_READY_AVAILABLE 1u /* An operation is worth a try. */
#define RT_READY_ERROR 2u     /* So it is, and will return the error. */
#define RT_READY_CLOSED 4u    /* Final: the end, or no reader left. */
#define RT_READY_SHUTDOWN 8u  /* Final: nothing is reported any more (E10). */
#define RT_READY_FINAL (RT_READY_CLOSED | RT_READY_SHUTDOWN)

struct rt_readiness {
    uint64_t bits : 8;  /* RT_READY_…; 0: not known to be ready. */
    uint64_t tick : 56; /* Events so far: 2,000 years of a million a second. */
};

/* A snapshot of the readiness. */
struct rt_seen {
    uint32_t bits;
    uint64_t tick;
};

/* An event of this direction; `bits` is not 0. */
void rt_readiness_event(struct rt_readiness *readiness, uint32_t bits);

/* True when an operation is worth a try. *ret_seen in any case. */
bool rt_readiness_look(const struct rt_readiness *readiness, struct rt_seen *ret_seen);

/* An operation tried after `seen` answered RT_E_AGAIN. True when that left it not ready. */
bool rt_readiness_clear(struct rt_readiness *readiness, struct rt_seen seen);

/* The bits of RT_READY_… that network events `events` (net.h) mean in `direction`; 0: none. ERROR
 * and HANGUP concern both (E3). */
uint32_t rt_readiness_of(uint32_t events, enum rt_direction direction);

#ifdef __cplusplus
}
#endif
#endif

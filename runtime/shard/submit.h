/*
 * submit.h -- a call on another shard, awaited on this one (X5).
 *
 *      rt_submit_to(&submit, origin, 3, put);         the message is on its way
 *      RT_AWAIT(rt_future_poll(&submit.future, cx));  READY on the origin, when it has returned
 *      submit.message.result                          the answer of the call
 *
 * The call is a rt_message_fn, which finds its arguments around the message with rt_container_of,
 * and answers with rt_message_answer, at once or when its own waits on its shard are over.
 *
 * Ownership. The caller keeps the submit alive until the message has returned, also when its
 * future was dropped: no task is woken then, but the other shard may still hold it.
 * rt_submit_is_over says when the memory is free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_SUBMIT_H
#define RT_SHARD_SUBMIT_H

#include "runtime/compose/future.h"
#include "runtime/shard/message.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_submit {
    struct rt_future future;
    struct rt_message message;
    struct rt_slot slot; /* The waker of the task that awaits the answer. */
};

/*
 * Sends `call` to shard `to`. An error of rt_message_send (RT_E_CLOSED, RT_E_INVALID) is the
 * result, and the future is READY at its first poll. To be used again when it is over.
 */
#define rt_submit_to(submit, origin, to, call) \
    rt_submit_to_at((submit), (origin), (to), (call), RT_HERE)
void rt_submit_to_at(struct rt_submit *submit, struct rt_shard *origin, uint32_t to,
        rt_message_fn call, const struct rt_site *await);

/* Whether the message has returned: its result is there, the memory may be freed. */
bool rt_submit_is_over(const struct rt_submit *submit);

#ifdef __cplusplus
}
#endif
#endif

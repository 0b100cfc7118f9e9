/*
 * error.h -- every way a call of the runtime can refuse.
 *
 * One list makes the enum, the short name (for traces) and the text (for
 * people). A call that refuses has changed nothing, unless its own comment says
 * otherwise. 0 is success; errors are negative; nothing here uses errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_ERROR_H
#define RT_BASE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define RT_ERROR_LIST(X) \
    X(BUSY, -1, "another task or thread uses it already") \
    X(FULL, -2, "the memory that the caller provided is full") \
    X(STALE, -3, "the key names something that is gone") \
    X(POSTED, -4, "the task is posted already") \
    X(NOT_POSTED, -5, "the task is not posted") \
    X(NO_WAKER, -6, "the task answered PENDING, but nothing holds a waker for it") \
    X(DEADLOCK, -7, "every task sleeps and nothing is left that could wake one") \
    X(REENTERED, -8, "the executor is running already; it cannot be run from inside a poll") \
    X(FINISHED, -9, "the future has finished; it must not be polled again") \
    X(CANCELLED, -10, "the task was cancelled") \
    X(AGAIN, -11, "not yet") \
    X(TAKEN, -12, "the output was taken before") \
    X(HAS_CHILDREN, -13, "pollables of the resource are still alive") \
    X(EMPTY_POLL, -14, "the host was asked to poll an empty list") \
    X(BAD_INDEX, -15, "the host answered an index outside the list") \
    X(STALE_CONTEXT, -16, "a poll context was used after its poll had returned") \
    X(CLOSED, -17, "the other side is closed") \
    X(INVALID, -18, "an argument is outside what the call allows") \
    X(IN_USE, -19, "the object is still linked somewhere; it must not be freed or initialised") \
    X(LIMIT, -20, "the bound on polls was reached") \
    X(REFUSED, -21, "no listener at that address") \
    X(RESET, -22, "the connection was reset by the other side") \
    X(ABORTED, -23, "the connection was gone before it was accepted") \
    X(TIMED_OUT, -24, "the other side did not answer in time") \
    X(ADDRESS_IN_USE, -25, "another listener has that address already") \
    X(NO_DESCRIPTOR, -26, "the host has no descriptor left") \
    X(SHUTDOWN, -27, "what would have reported it has been shut down") \
    X(FOREIGN, -28, "a thing that belongs to one shard was used on another") \
    X(SYSTEM, -29, "the system refused; the host's failure has its own name for why")

typedef enum rt_err {
    RT_OK = 0,
#define RT_ERROR_ENUM(name, value, text) RT_E_##name = (value),
    RT_ERROR_LIST(RT_ERROR_ENUM)
#undef RT_ERROR_ENUM
} rt_err;

/* The short name of `err` ("RT_E_BUSY"), "RT_OK", or "RT_E_?" for a value that is none. Static. */
const char *rt_err_name(rt_err err);

/* What `err` means, one sentence without a full stop. Static, never NULL. */
const char *rt_err_text(rt_err err);

#define RT_MUST_CHECK __attribute__((warn_unused_result))

#ifdef __cplusplus
}
#endif
#endif

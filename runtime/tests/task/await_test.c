/*
 * await_test.c -- leaving a poll function and coming back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/await.h"

#include "runtime/tests/bed.h"

/* A poll function with scripted answers, one letter a poll. */
struct inner {
    const char *answers;
};

static rt_poll
inner_poll(struct inner *inner)
{
    char answer = *inner->answers++;
    ck_assert(answer != '\0');
    return answer == '!' ? RT_READY : answer == 'p' ? RT_PARKED : RT_PENDING;
}

static rt_poll
outer_poll(struct inner *inner, uint32_t *passed)
{
    RT_AWAIT(inner_poll(inner));
    *passed += 1;
    return RT_READY;
}

/* Holds T13, C3: what is answered below is answered above. */
TEST(await_passes_on_what_is_not_ready)
{
    struct inner inner = {".p!"};
    uint32_t passed = 0;
    EXPECT_EQ(outer_poll(&inner, &passed), RT_PENDING);
    EXPECT_EQ(outer_poll(&inner, &passed), RT_PARKED);
    EXPECT_EQ(passed, 0);
    EXPECT_EQ(outer_poll(&inner, &passed), RT_READY);
    EXPECT_EQ(passed, 1);
}

struct reader {
    uint32_t tries;
    uint32_t again; /* So many tries find nothing. */
    struct inner ready;
};

static rt_err
try_read(struct reader *reader)
{
    reader->tries++;
    return reader->tries <= reader->again ? RT_E_AGAIN : RT_E_CLOSED;
}

static rt_poll
read_poll(struct reader *reader, rt_err *ret_err)
{
    rt_err err;
    RT_AWAIT_INTO(err, try_read(reader), inner_poll(&reader->ready));
    *ret_err = err;
    return RT_READY;
}

/* Tries, waits, and tries again: also where the wait is over at once. */
TEST(await_into_tries_until_there_is_a_result)
{
    struct reader reader = {.again = 3, .ready = {"!.!!"}};
    rt_err err = RT_OK;
    EXPECT_EQ(read_poll(&reader, &err), RT_PENDING);
    EXPECT_EQ(reader.tries, 2);
    EXPECT_EQ(err, RT_OK);
    EXPECT_EQ(read_poll(&reader, &err), RT_READY);
    EXPECT_EQ(reader.tries, 4);
    EXPECT_EQ(err, RT_E_CLOSED);
}

static rt_poll
or_poll(struct inner *inner, rt_err err, rt_err *ret_err)
{
    RT_AWAIT_OR(err, inner_poll(inner), *ret_err = err; return RT_READY);
    return RT_READY;
}

TEST(await_or_leaves_with_an_error)
{
    struct inner inner = {".!!"};
    rt_err err = RT_OK;
    EXPECT_EQ(or_poll(&inner, RT_E_BUSY, &err), RT_PENDING);
    EXPECT_EQ(err, RT_OK);
    EXPECT_EQ(or_poll(&inner, RT_E_BUSY, &err), RT_READY);
    EXPECT_EQ(err, RT_E_BUSY);
    EXPECT_EQ(or_poll(&inner, RT_OK, &err), RT_READY);
}

struct coroutine {
    uint32_t at;
    uint32_t round;
    struct inner inner;
    char log[32];
    size_t length;
};

static void
put(struct coroutine *coroutine, char letter)
{
    coroutine->log[coroutine->length++] = letter;
    coroutine->log[coroutine->length] = '\0';
}

static rt_poll
coroutine_poll(struct coroutine *coroutine)
{
    RT_BEGIN(coroutine->at);
    put(coroutine, 'a');
    for (coroutine->round = 0; coroutine->round < 2; coroutine->round++) {
        put(coroutine, 'b');
        RT_AWAIT_HERE(coroutine->at, inner_poll(&coroutine->inner));
        put(coroutine, 'c');
        RT_YIELD_HERE(coroutine->at);
        put(coroutine, 'd');
    }
    RT_END(coroutine->at);
}

/* Holds T20, T13: each line once, in order, across loops; parking passes through. */
TEST(await_coroutine_continues_where_it_left)
{
    struct coroutine coroutine = {.inner = {"..!p!"}};
    static const char *const logs[] = {"ab", "ab", "abc", "abcdb", "abcdbc", "abcdbcd"};
    static const rt_poll answers[] = {
            RT_PENDING, RT_PENDING, RT_PENDING, RT_PARKED, RT_PENDING, RT_READY};
    for (uint32_t i = 0; i < 6; i++) {
        EXPECT_EQ(coroutine_poll(&coroutine), answers[i]);
        EXPECT_STR(coroutine.log, logs[i]);
    }
    EXPECT_EQ(coroutine.at, RT_AT_END);
    EXPECT_FAULT(RT_E_FINISHED, (void)coroutine_poll(&coroutine));
}

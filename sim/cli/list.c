/*
 * list.c -- `rewake list`: the scenarios, and the parameters they take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/select.h"

/* A scenario that declares none has any. */
static const char *
order_name(enum sim_order order)
{
    return sim_option_word(SIM_OPTION_order, order == SIM_ORDER_DEFAULT ? SIM_ORDER_ANY : order);
}

static void
print_text(const struct sim_entry *entry)
{
    const struct sim_scenario *scenario = entry->scenario;
    char text[1024];
    bool passes = scenario->expect == SIM_VERDICT_PASS;
    bool other = scenario->expect_also != SIM_VERDICT_PASS;
    (void)snprintf(text, sizeof(text), "%s%s%s%s%s%s", scenario->about,
            passes ? "" : " [expected: ", passes ? "" : sim_verdict_name(scenario->expect),
            other ? ", also " : "", other ? sim_verdict_name(scenario->expect_also) : "",
            passes ? "" : "]");
    /* A name that is too long for its column has a separate line. */
    bool wraps = strlen(scenario->name) > 32;
    if (wraps) {
        (void)printf("%s\n%33s", scenario->name, "");
    } else {
        (void)printf("%-32s ", scenario->name);
    }
    sim_print_folded(text, 33, 33);
    for (uint32_t i = 0; i < sim_scenario_params(scenario); i++) {
        const struct sim_param *param = &scenario->params[i];
        (void)snprintf(text, sizeof(text), "-D %s=%lld  %s (%lld to %lld)", param->name,
                (long long)param->value, param->about != NULL ? param->about : "",
                (long long)param->min, (long long)param->max);
        (void)printf("    ");
        sim_print_folded(text, 4, 8);
    }
}

static void
print_json(const struct sim_entry *entry)
{
    const struct sim_scenario *scenario = entry->scenario;
    struct sim_json json;
    sim_json_begin(&json, stdout, "listed");
    SIM_JSON_PUT(&json, SIM_TEXT("name", scenario->name), SIM_TEXT("about", scenario->about),
            SIM_TEXT("expect", sim_verdict_name(scenario->expect)),
            SIM_TEXT("expect_also", sim_verdict_name(scenario->expect_also)),
            SIM_TEXT("order", order_name(scenario->order)),
            SIM_NUMBER("survives", scenario->survives), SIM_TEXT("library", entry->library));
    sim_json_open(&json, "params", '[');
    for (uint32_t i = 0; i < sim_scenario_params(scenario); i++) {
        const struct sim_param *param = &scenario->params[i];
        SIM_JSON_PUT(
                &json, SIM_FIELDS(NULL, SIM_TEXT("name", param->name),
                               SIM_TEXT("about", param->about), SIM_INTEGER("value", param->value),
                               SIM_INTEGER("min", param->min), SIM_INTEGER("max", param->max)));
    }
    sim_json_close(&json, ']');
    sim_json_end(&json);
}

static int
list(struct sim_cli *cli)
{
    struct sim_selection selection;
    int status = sim_select(cli, NULL, &selection);
    for (uint32_t i = 0; status == 0 && i < selection.count; i++) {
        if (sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
            print_json(selection.entries[i]);
        } else {
            print_text(selection.entries[i]);
        }
    }
    sim_select_done(&selection);
    return status;
}

SIM_COMMAND(command, .name = "list", .purpose = SIM_PURPOSE_FIND,
        .usage = "[LIB.so] [PATTERN...] [--json]",
        .about = "the scenarios, and the parameters they take",
        .help = "PATTERN is a shell glob over names, or over parts of names where it matches "
                "none. With a library: its scenarios only.\n",
        .options = SIM_OPT(JSON), .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES,
        .arguments_max = UINT32_MAX, .run = list);

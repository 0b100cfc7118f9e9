#!/bin/sh
# correct.t -- correct programs that were written from the documentation alone raise no alarm.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "correct/*: status" "$(status run 'correct/*' --runs 300 --fresh --record none)" 0
for order in 1 2 3 4 5 6; do
    same "correct/*, order $order, every quiescence audited: status" \
        "$(status run 'correct/*' --runs 100 --fresh --record none -O order=$order \
            -O audit_one_in=1)" 0
done

done_testing

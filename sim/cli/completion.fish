# Completion of rewake for fish; made by `rewake completion fish`.
#
# SPDX-License-Identifier: Apache-2.0
function __rewake_names
    set -l library (string match -r -- '^\S+\.so$' (commandline -opc))[1]
    rewake list $library --json 2>/dev/null |
        string replace -rf '.*"event":"listed","name":"([^"]*)".*' '$1'
end

function __rewake_runs
    rewake query "SELECT 'run:' || run AS name FROM failures WHERE token NOTNULL
        ORDER BY run DESC LIMIT 99" --json 2>/dev/null | string replace -rf '.*"(run:[0-9]*)".*' '$1'
end

complete -c rewake -f
@commands@@arguments@

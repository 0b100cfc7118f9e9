# json_lines.py -- checks lines of JSON against the schema; for json.t.
#
#   json_lines.py SCHEMA FILE...       each line of each file, and each kind of object is there but
#                                      those of builds that count edges
#   json_lines.py SCHEMA --some FILE...    each line of each file
#   json_lines.py SCHEMA --words OUTCOME.h SOURCE.c...
#                                      each key that a source writes is in the schema, and the
#                                      schema has the verdicts and oracles of the header
#
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys

import jsonschema


def validator(schema):
    """One for each event, so that an error is of that event alone."""
    by_event = {}
    for name, definition in schema["definitions"].items():
        event = definition.get("properties", {}).get("event", {}).get("const")
        if event is not None:
            one = {"definitions": schema["definitions"], "$ref": "#/definitions/" + name}
            by_event.setdefault(event, []).append(jsonschema.Draft7Validator(one))
    return by_event


OF_EDGES = {"code", "edge"}  # edges.t has them


def check_lines(schema, files, all_kinds):
    by_event = validator(schema)
    seen = {}
    for path in files:
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            one = json.loads(line)
            kinds = by_event.get(one.get("event"))
            if kinds is None:
                return "%s:%d: no such event in the schema: %s" % (path, number, line[:200])
            errors = [[e.message for e in kind.iter_errors(one)] for kind in kinds]
            if all(errors):
                wrong = "; ".join(min(errors, key=len))
                return "%s:%d: %s\n%s" % (path, number, wrong, line[:1000])
            seen[one["event"]] = seen.get(one["event"], 0) + 1
    missing = sorted(set(by_event) - set(seen) - OF_EDGES)
    return "no line of: " + ", ".join(missing) if missing and all_kinds else None


def keys_of(node, found):
    if isinstance(node, dict):
        found.update(node.get("properties", {}))
        for value in node.values():
            keys_of(value, found)
    elif isinstance(node, list):
        for value in node:
            keys_of(value, found)
    return found


def words_of(header, name):
    block = header[header.index("#define %s(X)" % name) :]
    return re.findall(r'X\(\w+, "([^"]+)"', block[: block.index("\n\n")])


def check_words(schema, header, sources):
    text = open(header, encoding="utf-8").read()
    for name, key in (("SIM_VERDICT_LIST", "verdict"), ("SIM_ORACLE_LIST", "oracle")):
        if words_of(text, name) != schema["definitions"][key]["enum"]:
            return "the schema's words for %s are not those of %s" % (key, header)
    known = keys_of(schema, set())
    for path in sources:
        text = open(path, encoding="utf-8").read()
        for key in re.findall(r'\b(?:(?:sim_json_\w+|put_location|sim_shrunk_json_key|json_list)\('
                              r'[^,()]*,\s*|SIM_[A-Z]+\(\s*)"([a-z_]+)"', text):
            if key not in known:
                return '%s writes "%s", which is not in the schema' % (path, key)
    return None


def main():
    schema = json.load(open(sys.argv[1], encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    if sys.argv[2] == "--words":
        wrong = check_words(schema, sys.argv[3], sys.argv[4:])
    elif sys.argv[2] == "--some":
        wrong = check_lines(schema, sys.argv[3:], False)
    else:
        wrong = check_lines(schema, sys.argv[2:], True)
    if wrong:
        print(wrong)
        sys.exit(1)


main()

#!/usr/bin/env python3
# outputs.py -- what each output says of one `rewake run`, in the same words, one line each.
#
#   outputs.py FOLDER
#
# FOLDER has, of one command: text (stdout), text.status, json (the same command with --json),
# json.status, run.xml (--junit), and what was made of the database afterwards: junit, sarif,
# github, markdown, pages/index.html, pages/command-1.html.
#
# A line is "OUTPUT fails: scenario/verdict/run:ID …; runs failed: N", or "OUTPUT holds". ID is that
# of the run that stands for the others. A line beginning with "wrong:" is an output that
# contradicts itself.
#
# SPDX-License-Identifier: Apache-2.0
import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def wrong(claim, is_right):
    if not is_right:
        print("wrong:", claim)


def run_of(text):
    """The one that it says it is about."""
    named = re.findall(r"\b[Tt]his is (run:\d+)\b", text)
    wrong("one run is named", len(named) == 1)
    return named[0] if named else "none"


def say(output, ways, runs):
    ways = list(dict.fromkeys(ways))  # In their order, each once.
    if ways or runs:
        print(f"{output} fails: {' '.join(ways)}; runs failed: {runs}")
    else:
        print(f"{output} holds")


# ---- The command itself. ----

def text():
    page = read("text")
    printed = re.findall(r"^replay: rewake replay \./rare\.so rw1:([^:]+):", page, re.M)
    verdicts = re.findall(r"^([a-z-]+): in `", page, re.M)
    end = re.search(r"^(\d+) runs?(?:, \d+ of them remembered)?: (\d+) passed, (\d+) failed; "
                    r"[\d.]+ s\n((?:failed: .*\n)*)(?:next: .*\n)?\Z", page, re.M)
    runs, passed, failed = map(int, end.groups()[:3])
    named = re.findall(r"^failed: (?:\./rare\.so )?([^: ]+): ([a-z-]+).* \((run:\d+)\)$", end[4],
                       re.M)
    wrong("text: what passed and what failed are the runs", passed + failed == runs)
    wrong("text: each is printed with its reason",
          len(printed) == page.count("\nIt goes wrong in "))
    wrong("text: each is printed once", len(printed) == len(set(printed)))
    wrong("text: the list at the end",
          [each[:2] for each in named] == list(zip(printed, verdicts)))
    wrong("text: the status", (read("text.status").strip() == "1") == (failed > 0))
    say("text", ["/".join(each) for each in named], failed)


def events():
    lines = [json.loads(line) for line in read("json").splitlines()]
    failures = [line for line in lines if line["event"] == "failure"]
    scenarios = [line for line in lines if line["event"] == "scenario"]
    end = lines[-1]
    wrong("json: the status is the exit", end["exit"] == int(read("json.status")))
    wrong("json: the status", (end["exit"] == 1) == (end["failed"] > 0))
    wrong("json: sums", end["passed"] + end["failed"] == end["runs"])
    wrong("json: scenarios add up", end["failed"] == sum(
        line["failures"] + line["remembered"] for line in scenarios))
    wrong("json: as_stated", all(line["as_stated"] == (line["failures"] + line["remembered"] == 0)
                                 for line in scenarios))
    wrong("json: those of each are marked", end["remembered"] == sum(
        line["remembered"] for line in failures))
    say("json", [f"{each['scenario']}/{each['verdict']}/run:{each['run']}" for each in failures],
        end["failed"])
    return [line["name"] for line in scenarios]


# ---- Files for other programs. ----

def junit(name):
    root = xml.etree.ElementTree.fromstring(read(name))
    cases = root.findall(".//testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    wrong(f"{name}: tests", int(root.get("tests")) == len(cases))
    wrong(f"{name}: failures", int(root.get("failures")) == len(failed))
    wrong(f"{name}: errors", int(root.get("errors")) == 0)
    words = "".join(case.find("system-out").text for case in cases)
    runs = sum(map(int, re.findall(r", (\d+) failed", words)))
    runs += sum(map(int, re.findall(r"; (\d+) remembered failures? failed again", words)))
    say(name, [f"{case.get('name')}/{case.find('failure').get('type')}/"
               f"{run_of(case.find('failure').text)}" for case in failed], runs)
    return [case.get("name") for case in cases]


def sarif():
    results = json.loads(read("sarif"))["runs"][0]["results"]
    wrong("sarif: occurrences", all(
        each["occurrenceCount"] == each["properties"]["runsFailed"] for each in results))
    say("sarif", [f"{each['properties']['scenario']}/{each['ruleId'].split('/')[0]}/"
                  f"{run_of(each['message']['text'])}" for each in results],
        sum(each["occurrenceCount"] for each in results))


def github():
    found = re.findall(r"title=([a-z-]+) in ([^:]+)::(.*)", read("github"))
    wrong("github: a line each", len(found) == len(read("github").splitlines()))
    runs = sum(int(count) for _, _, message in found
               for count in re.findall(r"%0A(?:.*again\. )?(\d+) of \d+ runs? failed this way",
                                        message))
    runs += sum("failed again" in message for _, _, message in found)
    say("github", [f"{scenario}/{verdict}/{run_of(message)}"
                   for verdict, scenario, message in found], runs)


def markdown():
    page = read("markdown")
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\d+) \| (\d+) \|", page, re.M)
    ways = [(*way, run_of(rest)) for *way, rest in re.findall(
        r"^### (\S+): (\S+)$((?:\n(?!#).*)*)", page, re.M)]
    lead = re.search(r"^(\d+) scenarios?, (\d+) runs?: (\d+) passed, (\d+) failed", page, re.M)
    failed = [row[0] for row in rows if row[1] == "**failed**"]
    wrong("markdown: what failed is first", [row[0] for row in rows][:len(failed)] == failed)
    wrong("markdown: each that failed has a part", set(failed) == {way[0] for way in ways})
    wrong("markdown: the sentence", lead is not None and int(lead[4]) == len(failed) and
          int(lead[2]) == sum(int(row[2]) for row in rows))
    say("markdown", ["/".join(way) for way in ways], sum(int(row[3]) for row in rows))


# ---- Pages. ----

class Page(html.parser.HTMLParser):
    """The sentence at the top, tables as rows of text, by the heading before them, and links in
    rows."""

    def __init__(self, name):
        super().__init__()
        self.lead, self.tables, self.links, self.heading, self.at = "", {}, [], "", None
        self.feed(read(name))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a" and self.at == "cell":
            self.links.append((self.tables[self.heading][-1], attributes["href"]))
        if tag == "p" and attributes.get("class") == "lead":
            self.at = "lead"
        elif tag in ("h2", "h3"):
            self.heading, self.at = "", "heading"
        elif tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        elif tag == "td":
            self.tables[self.heading][-1].append("")
            self.at = "cell"
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag):
        if tag in ("p", "h2", "h3", "td"):
            self.at = None

    def handle_data(self, data):
        if self.at == "lead":
            self.lead += data
        elif self.at == "heading":
            self.heading += data
        elif self.at == "cell":
            self.tables[self.heading][-1][-1] += data


def shown(made, row):
    """The run to whose page a row links; that page has its name."""
    of_row = [to for cells, to in made.links if cells is row]
    number = re.fullmatch(r"failure-(\d+)\.html", of_row[0]) if len(of_row) == 1 else None
    wrong("pages: a row links to its run", number is not None)
    run = f"run:{number[1]}" if number else "none"
    wrong("pages: the run's page has its name", number and
          re.search(rf"\b{run}\b", read(f"pages/{of_row[0]}")) is not None)
    return run


def page(name):
    made = Page(name)
    causes = [row for row in made.tables.get("Failures, by cause", []) if row]
    scenarios = [row for row in made.tables["Scenarios"] if row]
    failed = [row[0] for row in scenarios if row[1] == "failed"]
    wrong(f"{name}: what failed is first", [row[0] for row in scenarios][:len(failed)] == failed)
    wrong(f"{name}: the sentence", ("Nothing failed" in made.lead) == (not failed) and
          made.lead.startswith(f"{len(failed)} scenario") == bool(failed))
    wrong(f"{name}: causes come first", list(made.tables)[0] == "Failures, by cause" or not failed)
    runs = sum(int(row[3].replace(",", "") or 0) for row in scenarios)
    wrong(f"{name}: runs of causes", runs == sum(int(row[3].split()[0]) for row in causes))
    say(name, [f"{row[2]}/{row[0].split()[0]}/{shown(made, row)}" for row in causes], runs)


text()
names = events()
wrong("run.xml: the scenarios of the command", sorted(junit("run.xml")) == sorted(names))
wrong("junit: the scenarios of the database", set(names) <= set(junit("junit")))
sarif()
github()
markdown()
page("pages/index.html")
if os.path.exists(os.path.join(folder, "pages/command-1.html")):
    page("pages/command-1.html")

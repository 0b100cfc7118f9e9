/*
 * script.c -- the one script of a report: arrow keys go from step to step.
 *
 * With a step in the address (#step-12) a bar below the page has its row: time, actor, events,
 * line. The left and the right arrow go to the step before and after. Without it all is there to
 * read.
 *
 * The policy of a page (html.c) allows this text and no other, by REPORT_SCRIPT_HASH: overview.t
 * holds it against the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/html.h"

/* clang-format off */
const char report_script[] =
        "(()=>{"
        "const id=n=>document.getElementById(n),steps=[...document.querySelectorAll(\"[id"
        "^='step-']\")].map(e=>+e.id.slice(5)).sort((a,b)=>a-b);"
        "if(!steps.length)return;const bar=document.createElement(\"output\");"
        "bar.className=\"at\";document.body.append(bar);"
        "const at=()=>/^#step-\\d+$/.test(location.hash)?+location.hash.slice(6):0;"
        "const show=()=>{const row=id(\"row-\"+at())||id(\"step-\"+at());"
        "bar.textContent=row&&row.cells?[...row.cells].map(c=>c.textContent).filter(t=>t)"
        ".join(\" \\u00b7 \"):\"\"}"
        ";addEventListener(\"hashchange\",show);addEventListener(\"keydown\",e=>{"
        "const by={ArrowRight:1,ArrowLeft:-1}[e.key];"
        "if(!by||e.altKey||e.ctrlKey||e.metaKey||e.shiftKey||e.target.closest(\"pre,.scro"
        "ll\"))return;"
        "const to=by>0?steps.find(n=>n>at()):steps.findLast(n=>n<at());if(to){"
        "location.hash=\"step-\"+to;e.preventDefault()}});show()})()";
/* clang-format on */

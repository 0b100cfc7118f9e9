/*
 * style.c -- how every page of a report looks: one sheet, light and dark, screen and paper.
 *
 * One strong colour (--lost) is reserved for failures. All else is grey, and links are blue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/html.h"

#include <stddef.h>

/* Colours by what they mean. */
#define LIGHT \
    "--ground:#fff;--raised:#f6f7f9;--text:#1b1f24;--dim:#5b6570;--line:#d5dae0;--edge:#8b96a3;--" \
    "link:#0a58ca;" \
    "--lost:#d3123f;--lost-ground:#fdecef;--wake:#2f6fb5;--part:#8a6100;--part-ground:#fdf5df;" \
    "--good:#1c7a3e"
#define DARK \
    "--ground:#15181c;--raised:#1e2329;--text:#e4e7eb;--dim:#9aa5b1;--line:#39414a;--edge:#" \
    "75818e;--link:#" \
    "7ab8ff;" \
    "--lost:#ff5c7c;--lost-ground:#3a1620;--wake:#7fb2ea;--part:#e3b341;--part-ground:#2e270f;" \
    "--good:#5cc981"

const char report_colours[] = ":root{color-scheme:light dark;" LIGHT "}"
                              "@media (prefers-color-scheme:dark){:root{" DARK "}}"
                              "@media print{:root{color-scheme:light;" LIGHT "}}";

const char *const report_style[] = {
        report_colours,
        "*{box-sizing:border-box}",
        "html{scroll-padding-top:1rem}",
        "body{margin:0;background:var(--ground);color:var(--text);"
        "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif;"
        "overflow-wrap:break-word}",
        "main,header,footer{max-width:96rem;margin:0 auto;padding:0 1rem}",
        "header{padding-top:1rem}",
        "header nav a{margin-right:1rem}",
        "footer{color:var(--dim);font-size:.875rem;padding:1.5rem 1rem;margin-top:2rem;"
        "border-top:1px solid var(--line)}",
        "h1{font-size:1.6rem;line-height:1.25;margin:.75rem 0}",
        "h2{font-size:1.2rem;margin:2rem 0 .5rem;line-height:1.3}",
        "h3{font-size:1rem;margin:1.25rem 0 .25rem}",
        "p{max-width:48rem;margin:.5rem 0}",
        "a{color:var(--link);text-underline-offset:.15em}",
        ":focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}",
        ".skip{position:absolute;left:-100rem}",
        ".skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.25rem .5rem;z-index:1}",
        "code,pre,kbd{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
        "font-size:.875em}",
        "pre{background:var(--raised);border:1px solid var(--line);border-radius:4px;"
        "padding:.5rem .75rem;overflow-x:auto;margin:.5rem 0;line-height:1.45}",
        ".source mark{background:var(--part-ground);color:inherit;display:inline-block;"
        "min-width:100%}",
        ".command{margin:.5rem 0}",
        ".command pre{margin:.125rem 0;user-select:all;white-space:pre-wrap;word-break:break-all}",
        ".dim{color:var(--dim)}",
        ".lost{color:var(--lost);font-weight:600}",
        ".good{color:var(--good)}",
        ".number{text-align:right;font-variant-numeric:tabular-nums}",
        ".lead{font-size:1.15rem;line-height:1.45;border-left:4px solid var(--lost);"
        "padding:.25rem 0 .25rem .75rem;max-width:52rem}",
        ".scroll{overflow-x:auto;margin:.5rem 0}",
        ".scroll table{min-width:32rem}",
        "table{border-collapse:collapse;font-size:.9rem}",
        "caption{text-align:left;color:var(--dim);padding:.25rem 0}",
        "th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;"
        "border-bottom:1px solid var(--line)}",
        "th{font-weight:600;border-bottom:2px solid var(--line)}",
        "tr:target,li:target{background:var(--part-ground)}",
        "tr.lost td{color:var(--lost)}",
        "figure{margin:0;min-width:0}",
        "figcaption{font-weight:600;margin:.5rem 0 .25rem}",
        ".runs{display:flex;flex-wrap:wrap;gap:1rem 1.5rem;align-items:flex-start}",
        ".runs figure{flex:1 1 auto;max-width:100%}",
        "svg.lanes{display:block;max-width:100%;height:auto}",
        ".legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;"
        "font-size:.85rem;color:var(--dim)}",
        ".legend svg{display:inline-block;vertical-align:-2px}",
        ".at{position:fixed;inset:auto 0 0 0;background:var(--raised);padding:.25rem 1rem;"
        "border-top:1px solid var(--line);max-height:40vh;overflow:auto}.at:empty{display:none}",
        ".at p{max-width:none;margin:.125rem 0}.at code{color:var(--text)}",
        ".at button{margin-left:.5rem;min-width:2.5rem;font:inherit}",
        "body:has(.at:not(:empty)){padding-bottom:40vh}html:has(.at:not(:empty))"
        "{scroll-padding-bottom:10rem}",
        "th[tabindex]{cursor:pointer}input{font:inherit;min-width:0;max-width:100%}",
        "details{margin:.5rem 0}",
        "summary{cursor:pointer}",
        "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;max-width:52rem;"
        "margin:.5rem 0}",
        "dt{color:var(--dim)}",
        "dd{margin:0;min-width:0}",
        "@media (max-width:40rem){dl{display:block}dd{margin-bottom:.5rem}h1{font-size:1.3rem}}",
        /* A row of a table as a card; a cell has its heading from the script. */
        "@media screen and (max-width:43.75rem){.scroll table.cards{min-width:0;width:100%}"
        ".cards thead{display:none}.cards tbody,.cards tr,.cards td{display:block}"
        ".cards tr[hidden],.cards td:empty{display:none}.cards tr{border:1px solid var(--line);"
        "border-radius:6px;padding:.5rem .75rem;margin:.5rem 0}"
        ".cards td{border:0;padding:.125rem 0;text-align:left}"
        ".cards td:not([data-head=\"\"])::before{content:attr(data-head) \": \";"
        "color:var(--dim);font-weight:400}}",
        "@media print{body{font-size:10pt}header nav,.skip,.screen,.at{display:none}"
        "main,header,footer{max-width:none;padding:0}.scroll{overflow:visible}.scroll "
        "table,svg.lanes{min-width:0!important}figure svg{max-height:94vh}"
        "pre{white-space:pre-wrap}a{color:inherit;text-decoration:none}"
        "h2,h3,figcaption,caption,summary{break-after:avoid}"
        "tr,pre,figure{break-inside:avoid}thead{display:table-header-group}"
        ".runs{display:block}.runs figure{margin-bottom:1rem}}",
        NULL,
};

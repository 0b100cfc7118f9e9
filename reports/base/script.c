/*
 * script.c -- the one script of a report. Without it all is there to read.
 *
 * A page with steps: the left and the right arrow, and a click on a box, go to a step (#step-12); a
 * bar below the page then has its row, its line of source, who could have run instead, and the
 * waits that the ledger has open after it. All of that is read off the tables of the page.
 *
 * Another page: a field filters the rows of all tables, and a heading sorts its table.
 *
 * Each cell gets its heading, which the style shows where a row is a card (style.c).
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
        "const id=n=>document.getElementById(n),all=(s,e=document)=>[...e.querySelectorAll(s)];"
        "const make=(tag,to,text)=>{const e=document.createElement(tag);e.textContent=text;"
        "to.append(e);return e};"
        "const rows=label=>all(`[aria-label='${label}'] tbody tr`)"
        ".map(r=>[...r.cells].map(c=>c.textContent));"
        "for(const t of all('table')){const heads=all('thead th',t).map(h=>h.textContent);"
        "t.classList.add('cards');"
        "for(const r of t.tBodies[0].rows)[...r.cells].forEach((c,i)=>c.dataset.head=heads[i]||'')}"
        /* Steps. */
        "const steps=all(\"[id^='step-']\").map(e=>+e.id.slice(5)).sort((a,b)=>a-b);"
        "const at=()=>/^#step-\\d+$/.test(location.hash)?+location.hash.slice(6):0;"
        "const go=by=>{const to=by>0?steps.find(n=>n>at()):steps.findLast(n=>n<at());"
        "if(to)location.hash='step-'+to;return to};"
        "const walk=()=>{const bar=make('output',document.body,'');bar.className='at';"
        "const ledger=rows('Wake ledger'),source=new Map(rows('Lines of source'));"
        "const show=()=>{bar.replaceChildren();const n=at(),row=id('row-'+n)||id('step-'+n);"
        "if(!row||!row.cells)return;const [,time,actor,events,place,others]="
        "[...row.cells].map(c=>c.textContent);"
        "const line=make('p',bar,[n,time,actor,events].join(' \\u00b7 '));"
        "for(const [text,by] of [['\\u2190',-1],['\\u2192',1]])"
        "make('button',line,text).onclick=()=>go(by);"
        "if(place){const p=make('p',bar,place+'  ');p.className='dim';"
        "make('code',p,source.get(place)||'')}"
        "if(others)make('p',bar,'Also runnable: '+others).className='dim';"
        "const open=ledger.filter(w=>(+w[2]||0)<=n&&(+w[5]||1/0)>n),"
        "wait=w=>`${w[0]} for ${w[1]} since ${+w[2]||'the start'}`;"
        "if(open.length)make('p',bar,'Waiting: '+open.slice(-4).map(wait).join('; ')"
        "+(open.length>4?`; ${open.length-4} more`:'')).className='dim'};"
        "addEventListener('hashchange',show);show();"
        "addEventListener('click',e=>{const box=e.target.closest(\"g[id^='step-']\");"
        "if(box&&!e.target.closest('a'))location.hash=box.id});"
        "addEventListener('keydown',e=>{const by={ArrowRight:1,ArrowLeft:-1}[e.key];"
        "if(by&&!e.altKey&&!e.ctrlKey&&!e.metaKey&&!e.shiftKey&&!e.target.closest('pre,.scroll')"
        "&&go(by))e.preventDefault()})};"
        /* Tables. */
        "const sort=(t,i)=>{const down=t.dataset.by===i+'';t.dataset.by=down?'':i;"
        "const key=r=>r.cells[i].textContent,number=s=>+s.replace(/[^\\d.]/g,'');"
        "const order=all('th',t)[i].className==='number'?(a,b)=>number(key(a))-number(key(b))"
        ":(a,b)=>key(a).localeCompare(key(b));"
        "t.tBodies[0].append(...[...t.tBodies[0].rows].sort(order)[down?'reverse':'slice']())};"
        "const find=()=>{const table=all('table').find(t=>t.tBodies[0].rows.length>4);"
        "if(!table)return;const label=document.createElement('label');label.className='screen';"
        "label.textContent='Filter the tables ';id('main').prepend(label);"
        "const field=make('input',label,''),said=make('output',label,'');field.type='search';"
        "field.oninput=()=>{const words=field.value.toLowerCase().split(/\\s+/);let shown=0;"
        "for(const r of all('tbody tr')){const text=r.textContent.toLowerCase();"
        "r.hidden=!words.every(w=>text.includes(w));shown+=!r.hidden}"
        "said.textContent=field.value?` ${shown} rows`:''};"
        "for(const t of all('table'))all('thead th',t).forEach((h,i)=>{if(h.textContent){"
        "h.tabIndex=0;h.setAttribute('aria-label',h.textContent+', sort');h.onclick=()=>sort(t,i);"
        "h.onkeydown=e=>{if(e.key==='Enter')sort(t,i)}}})};"
        "steps.length?walk():find()})()";
/* clang-format on */

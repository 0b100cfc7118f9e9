#!/bin/sh
# packaging.t -- the site is whole, and a release has what it should.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh

# ---- The site. ----
ok "the site is made" scripts/packaging/site "$tmp/site"
ok "it has a page for each of sim/docs" test "$(ls "$tmp/site"/*.html | wc -l)" -ge \
    "$(ls sim/docs/*.md | wc -l)"
same "each link leads somewhere, and nothing is loaded" "$(scripts/tests/links "$tmp/site")" ''
mkdir -p "$tmp/dead/man1"
echo '<a href="no.html">a</a> <a href="#no">b</a>' >"$tmp/dead/a.html"
printf '%s\n' 'See \fBrewake-no\fR(1).' >"$tmp/dead/man1/rewake.1"
same "links: one that is dead is found" "$(cd "$tmp/dead" && "$OLDPWD/scripts/tests/links" .)" \
    './a.html: #no leads nowhere
./a.html: no.html leads nowhere
./man1/rewake.1: there is no rewake-no.1'
ok "a file of the tree that a page links to is a page" grep -q 'SIM_SCENARIO(broken' \
    "$tmp/site/tree-scripts-examples-ring-c.html"
ok "a fence is text" grep -q '^<pre>#include &lt;pthread.h&gt;' "$tmp/site/index.html"
ok "a table is one" grep -q '<tr><td>status</td>\|<tr><th>status</th><th>meaning</th></tr>' \
    "$tmp/site/commands.html"
same "each documented bug is there, by project" "$(grep -c '<h3 id' "$tmp/site/bugs.html")" \
    "$(sed -n 's/.* holds \([0-9]*\) documented bugs.*/\1/p' README.md)"
same "... with its public reference" "$(grep -c '^<p><a href="https://github.com/[^"]*">.*/broken' \
    "$tmp/site/bugs.html")" "$(grep -c '<h3 id' "$tmp/site/bugs.html")"
not_ok "no mark of Markdown is left" grep -q '^|\|^```' "$tmp/site/verdicts.html" \
    "$tmp/site/bugs.html"

# ---- The jobs of a project's CI install; none builds rewake. ----
ok "a project" scripts/new-project "$tmp/project"
if python3 -c 'import yaml' 2>/dev/null && command -v curl >/dev/null; then
    scripts/tests/ci-run --print 'install rewake' "$tmp/project/.github/workflows/rewake.yml" |
        sed '/^$/d' >"$tmp/github.sh"
    scripts/tests/ci-run --print before_script "$tmp/project/.gitlab-ci.yml" |
        grep -v safe.directory >"$tmp/gitlab.sh"
    ok "GitHub installs as GitLab does" cmp "$tmp/github.sh" "$tmp/gitlab.sh"
    # As in an image: with stand-ins for what is installed, and what deb has put together.
    mkdir -p "$tmp/bin" "$tmp/in/rewake-packages"
    touch "$tmp/in/rewake-packages/rewake_1.deb"
    tar -cf "$tmp/packages.tar" -C "$tmp/in" rewake-packages
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nfor a; do case $a in *.deb) ls "$a" ;; esac; done\n' >"$tmp/bin/apt-get"
    chmod +x "$tmp/bin/apt-get"
    sed -i "s|/tmp|$tmp|g" "$tmp/github.sh"
    same "the packages that REWAKE has are installed" "$(PATH=$tmp/bin:$PATH \
        REWAKE=file://$tmp/packages.tar sh -e "$tmp/github.sh")" "$tmp/rewake-packages/rewake_1.deb"
fi

# ---- The problem matcher finds what the README's report shows, and nothing else. ----
matched=$(python3 -c 'import json, re
matchers = json.load(open("scripts/templates/problem-matcher.json"))
pattern = matchers["problemMatcher"][0]["pattern"][0]
for line in open("README.md"):
    found = re.match(pattern["regexp"], line.rstrip("\n"))
    if found: print(*(found[pattern[key]] for key in ("file", "line", "message")))' 2>/dev/null) &&
    same "the problem matcher" "$matched" 'lost.c 22 pthread_cond_signal(&arrived);
lost.c 12 pthread_cond_wait(&arrived, &mutex);'

# ---- A release, of a copy. ----
command -v git >/dev/null && git rev-parse -q --verify HEAD >/dev/null 2>&1 && {
    export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$tmp/gitconfig"
    printf '[user]\nname = n\nemail = e\n[safe]\ndirectory = *\n' >"$GIT_CONFIG_GLOBAL"
    git clone -q . "$tmp/copy"
    release=$tmp/copy/scripts/packaging/release
    mkdir -p "${release%/*}"
    cp scripts/packaging/release "$release"
    git -C "$tmp/copy" add scripts/packaging
    git -C "$tmp/copy" commit -qam 'as it is' 2>/dev/null
    version=$(sed -n 's/^#define RT_VERSION "\(.*\)"/\1/p' runtime/base/version.h)
    ok "a release" "$release" "$tmp/one" --tag
    ok "its checksum" sh -c "cd '$tmp/one' && sha256sum -c --quiet rewake-$version.sha256"
    ok "its notes begin with the version" sh -c \
        "head -n 1 '$tmp/one/rewake-$version.md' | grep -q '$version'"
    same "the tag" "$(git -C "$tmp/copy" tag)" "v$version"
    ok "the tarball has the tree" sh -c \
        "tar -tzf '$tmp/one/rewake-$version.tar.gz' | grep -qx 'rewake-$version/Makefile'"
    not_ok "a tag that is there is refused" "$release" "$tmp/two" --tag
    git -C "$tmp/copy" tag -d "v$version" >/dev/null
    sed -i 's/^## [0-9.]*/## 9.9.9/' "$tmp/copy/CHANGELOG.md"
    not_ok "changes that are not committed are refused" "$release" "$tmp/two"
    git -C "$tmp/copy" commit -qam 'another version'
    not_ok "a CHANGELOG of another version is refused" "$release" "$tmp/two"
}
done_testing

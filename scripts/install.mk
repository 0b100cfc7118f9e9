# install.mk -- what is installed, and where. Part of the Makefile.
#
#   make install PREFIX=/usr DESTDIR=/tmp/root LIBDIR=/usr/lib/x86_64-linux-gnu
#
# DESTDIR is only put in front: nothing that is installed knows it. MAN=no leaves the manual pages
# out, and with them the need for scdoc. The pages of sim/docs for a browser go to DOCDIR, the
# examples of sim/docs/examples.md to DATADIR.
#
# SPDX-License-Identifier: Apache-2.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/rewake
MAN ?= yes

# ---- The shared library. -----------------------------------------------------------------------
# While the first number is 0 the second one breaks promises: the soname has both.
version_word = $(word $1,$(subst ., ,$(VERSION)))
ABI := $(call version_word,1)$(if $(filter 0,$(call version_word,1)),.$(call version_word,2))
SO := librewake-rt.so
pic = $(patsubst %.c,$(B)/pic/%.o,$1)

$(B)/pic/%.o: %.c $(B)/flags
	$(call run,CC,$(call compile,-fPIC))
# Its own names only; what it needs, it says (--no-undefined), so that its users need not know.
$(B)/$(SO): $(call pic,$(RUNTIME) $(HOST)) scripts/rewake-rt.map $(B)/sources
	$(call run,LINK,$(CC) -shared $(FLAGS.$(BUILD)) $(OPT) -Wl$(,)-soname$(,)$(SO).$(ABI) \
		-Wl$(,)--version-script=scripts/rewake-rt.map -Wl$(,)--no-undefined $(CFLAGS) $(LDFLAGS) \
		-o $@ $(filter %.o,$^) $(FIBER_LIBS) $(URING) -pthread)

# ---- What `rewake cc` links a program with. ----------------------------------------------------
# The entry points of -fsanitize=thread in their native form. gcc asks the linker for -ltsan: it
# finds this name in a folder that only `rewake cc` names.
TSAN_SO := librewake-tsan.so
alone = $(patsubst %.c,$(B)/alone/%.o,$1)
$(B)/alone/%.o: %.c $(B)/flags
	$(call run,CC,$(call compile,-fPIC -DSIM_ATOMIC_ALONE))
$(B)/$(TSAN_SO): $(call alone,sim/atomic/atomic.c sim/atomic/plain.c)
	$(call run,LINK,$(CC) -shared $(FLAGS.$(BUILD)) $(OPT) -Wl$(,)-soname$(,)$(TSAN_SO) $(CFLAGS) \
		$(LDFLAGS) -o $@ $^ && mkdir -p $(B)/rewake-tsan && \
		ln -sfn ../$(TSAN_SO) $(B)/rewake-tsan/libtsan.so)

# ---- What the program says of itself. ----------------------------------------------------------
$(B)/share/man: $(B)/rewake $(wildcard scripts/man/*) scripts/manual scripts/packaging/header-pages
	@rm -rf $@ && scripts/manual $(B)/rewake $@ && \
		scripts/packaging/header-pages $(VERSION) $@/man3 $(sort $(INCLUDED))
$(B)/share/rewake.%: $(B)/rewake
	$(call run,GEN,$(B)/rewake completion $* > $@)

# ---- Jobs. -------------------------------------------------------------------------------------
# All of runtime/, and of the simulator what sim/rewake.h brings; the compiler lists what these
# include. sim/always.h is for programs.
OFFERED := $(filter-out %internal.h runtime/base/banned.h,$(filter runtime/%,$(HEADERS)))
INCLUDED = $(OFFERED) sim/always.h \
	$(shell $(CC) -std=c17 -I. -MM -x c $(filter %.h,$(OFFERED)) sim/rewake.h | \
	tr ' ' '\n' | grep '\.h$$' | sort -u)
TEMPLATES := $(shell find scripts/templates scripts/examples -type f ! -name README.md)
PAGES = $(if $(filter no,$(MAN)),,$(B)/share/man)
put = install -D -m $1 $2 $(DESTDIR)$3 &&

# Programs find a shared library that is new in /usr/local/lib by ldconfig's cache. Nothing
# under DESTDIR is in use yet, and only root may write the cache.
tell_linker = [ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ! command -v ldconfig >/dev/null || \
	ldconfig

SHELLS := bash fish zsh
BUILT := $(B)/$(SO) $(SHELLS:%=$(B)/share/rewake.%)
# What the tree is found by: from the folder of such a file to its top. So the tree can be moved.
CMAKEDIR = $(LIBDIR)/cmake/rewake
up = $(shell realpath -m --relative-to=$1 $2)
filled = sed -e 's|@PREFIX@|$${pcfiledir}/$(call up,$(LIBDIR)/pkgconfig,$(PREFIX))|' \
	-e 's|@LIBDIR@|$(call up,$(PREFIX),$(LIBDIR))|' -e 's|@BINDIR@|$(call up,$(PREFIX),$(BINDIR))|' \
	-e 's|@INCLUDEDIR@|$(call up,$(PREFIX),$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@DATADIR@|$(call up,$(PREFIX),$(DATADIR))|' \
	-e 's|@UP@|$(call up,$(CMAKEDIR),$(PREFIX))|' -e 's|@SONAME@|$(SO).$(ABI)|'
install: all $(BUILT) $(PAGES) ## program, libraries, headers, pages; DESTDIR=
	@$(call put,755,$(B)/rewake,$(BINDIR)/rewake) \
	$(call put,644,$(B)/librewake-rt.a,$(LIBDIR)/librewake-rt.a) \
	$(call put,644,$(B)/$(SO),$(LIBDIR)/$(SO).$(VERSION)) \
	ln -sfn $(SO).$(VERSION) $(DESTDIR)$(LIBDIR)/$(SO).$(ABI) && \
	ln -sfn $(SO).$(ABI) $(DESTDIR)$(LIBDIR)/$(SO) && \
	$(call put,644,$(B)/$(TSAN_SO),$(LIBDIR)/$(TSAN_SO)) \
	mkdir -p $(DESTDIR)$(LIBDIR)/rewake-tsan && \
	ln -sfn ../$(TSAN_SO) $(DESTDIR)$(LIBDIR)/rewake-tsan/libtsan.so && \
	$(call put,644,$(B)/share/rewake.bash,$(DATADIR)/bash-completion/completions/rewake) \
	$(call put,644,$(B)/share/rewake.zsh,$(DATADIR)/zsh/site-functions/_rewake) \
	$(call put,644,$(B)/share/rewake.fish,$(DATADIR)/fish/vendor_completions.d/rewake.fish) \
	$(call put,644,scripts/gdb/rewake.py,$(DATADIR)/rewake/gdb/rewake.py) \
	$(call put,644,sim/cli/print/json.schema.json,$(DATADIR)/rewake/json.schema.json) true
	@for h in $(sort $(INCLUDED)); do \
		install -D -m 644 $$h $(DESTDIR)$(INCLUDEDIR)/rewake/$$h || exit 1; done
	@for t in $(TEMPLATES:scripts/%=%); do \
		install -D -m 644 scripts/$$t $(DESTDIR)$(DATADIR)/rewake/$$t || exit 1; done
	@scripts/packaging/site $(DESTDIR)$(DOCDIR)/html
	@mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(CMAKEDIR)
	@for pc in rewake rewake-rt; do \
		$(filled) scripts/$$pc.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/$$pc.pc || exit 1; done
	@for part in config config-version; do $(filled) scripts/rewake-$$part.cmake.in \
		> $(DESTDIR)$(CMAKEDIR)/rewake-$$part.cmake || exit 1; done
	@sed -e 's|^templates=.*|templates=$$here/$(shell realpath -m --relative-to=$(BINDIR) \
			$(DATADIR)/rewake/templates)|' scripts/new-project \
		> $(DESTDIR)$(BINDIR)/rewake-new-project && \
		chmod 755 $(DESTDIR)$(BINDIR)/rewake-new-project
ifneq ($(MAN),no)
	@cd $(B)/share/man && for page in man?/*; do \
		install -D -m 644 $$page $(DESTDIR)$(MANDIR)/$$page || exit 1; done
endif
	@$(tell_linker)
	@echo 'installed in $(DESTDIR)$(PREFIX)'

# Built before the tests, two of which install, perhaps at the same time.
installable: $(BUILT) $(if $(shell command -v scdoc),$(PAGES))
installable-%: program-% FORCE ; @$(MAKE) $(VARIANT) installable

uninstall: ## removes what install has put there, with the same DESTDIR= PREFIX=
	rm -f $(DESTDIR)$(BINDIR)/rewake $(DESTDIR)$(BINDIR)/rewake-new-project \
		$(DESTDIR)$(LIBDIR)/librewake-rt.* $(DESTDIR)$(LIBDIR)/$(TSAN_SO) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/rewake.pc \
		$(DESTDIR)$(LIBDIR)/pkgconfig/rewake-rt.pc $(DESTDIR)$(MANDIR)/man1/rewake.1 \
		$(DESTDIR)$(MANDIR)/man?/rewake-*.? \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/rewake \
		$(DESTDIR)$(DATADIR)/zsh/site-functions/_rewake \
		$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/rewake.fish
	rm -rf $(DESTDIR)$(INCLUDEDIR)/rewake $(DESTDIR)$(DATADIR)/rewake \
		$(DESTDIR)$(LIBDIR)/rewake-tsan $(DESTDIR)$(DOCDIR)/html $(DESTDIR)$(CMAKEDIR)
	@$(tell_linker)
.PHONY: install installable uninstall

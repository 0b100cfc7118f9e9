# rewake.py -- what gdb knows of a run: commands, and printers for the runtime's own types.
#
#   rewake replay TOKEN --gdb --step 12           starts gdb with this, at step 12
#   gdb -x scripts/gdb/rewake.py build/rewake core    looks at a crash that left a core
#
#   (gdb) rewake help
#
# All of it is read from memory, with the program's debug information: nothing is called in the
# process, so that a core answers as a process does. The only thing that is written is the step at
# which to stop next (sim/core/process/trap.c).
#
# SPDX-License-Identifier: Apache-2.0
import re
import struct

import gdb

NEVER = 2**64 - 1
TRAP_FRAME = "sim__trap"


class Refusal(gdb.GdbError):
    """What cannot be answered, and why: gdb prints it as one line."""


# ---- The run. ----------------------------------------------------------------------------------


def world():
    """The run in progress, as a struct sim_world."""
    try:
        pointer = gdb.parse_and_eval("sim_world_current")
    except gdb.error:
        raise Refusal("this program is not rewake, or has no debug information")
    if int(pointer) == 0:
        raise Refusal("no run is in progress here: it has not begun, or it is over")
    return pointer.dereference()


def text(pointer, default="?"):
    """A C string; `default` for NULL, or for one that is not to be had."""
    try:
        return pointer.string(errors="replace") if int(pointer) != 0 else default
    except gdb.error:
        return default


def time(ns):
    """As reports have it: 950ns, 1.25us, 50ms."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            whole, rest = divmod(ns, size)
            digits = ("%03d" % (rest * 1000 // size)).rstrip("0")
            return "%d%s%s%s" % (whole, "." if digits else "", digits, unit)
    return "%dns" % ns


def constant(name):
    """An enumerator; None where this build has none of that name."""
    try:
        return int(gdb.parse_and_eval(name))
    except gdb.error:
        return None


def container(pointer, type_name, member):
    """The struct around a member."""
    outer = gdb.lookup_type(type_name)
    offset = [field.bitpos // 8 for field in outer.fields() if field.name == member][0]
    address = int(pointer) - offset
    return gdb.Value(address).cast(outer.pointer()).dereference()


def links(head):
    """The nodes of a struct rt_list; stops where it is no ring."""
    node = head["next"]
    for _ in range(100000):
        if int(node) == 0 or int(node) == int(head.address):
            return
        yield node
        node = node["next"]


def place(site):
    """A struct rt_site as file:line in function()."""
    if int(site) == 0:
        return "?"
    return "%s:%d in %s()" % (
        text(site["file"]).rsplit("/", 1)[-1],
        int(site["line"]),
        text(site["function"]),
    )


def kind_of(actor):
    return str(actor["ops"]["kind"]).replace("SIM_ACTOR_", "").lower()


def task_of(actor):
    """The struct rt_task of an actor of our own binding; None: it is something else."""
    if "sim__task_waiting" not in str(actor["ops"]["waiting"]):
        return None
    bound = container(actor.address, "struct sim_bound", "actor")
    return bound["task"].dereference() if int(bound["task"]) != 0 else None


def slots_of(task):
    """The places that hold a waker of a task."""
    for link in links(task["slots"]):
        yield container(link, "struct rt_slot", "task_link")


def actors():
    run = world()
    for i in range(1, int(run["actor_count"])):
        yield run["actors"][i].dereference()


def find_actor(name):
    for actor in actors():
        if name in (text(actor["name"]), str(int(actor["index"]))):
            return actor
    raise Refusal("there is no `%s` in this run: `rewake tasks` lists them" % name)


# ---- Stacks: threads of a program, and loops. --------------------------------------------------

# What Boost.Context leaves on the stack of one that does not run (x86-64): the registers in this
# order behind 8 bytes, or 16 where it was built with a stack protector, then the address.
SAVED = ("r12", "r13", "r14", "r15", "rbx", "rbp")


def own_stack(actor):
    """The struct rt_context of a thread or a loop; None: it has no stack of its own."""
    for ops, type_name in (("<thread_ops>", "sim_thread"), ("<loop_ops>", "sim_loop")):
        if ops in str(actor["ops"]):
            return container(actor.address, "struct " + type_name, "actor")["fiber"]["context"]
    return None


def saved_registers(context):
    """Where it stands, as values of registers."""
    memory = gdb.selected_inferior().read_memory(int(context["there"]), 80)
    words = struct.unpack("=10Q", memory)
    first = 1 if gdb.block_for_pc(words[7]) is not None else 2
    saved = dict(zip(SAVED, words[first:]))
    saved["rip"] = words[first + 6]
    saved["rsp"] = int(context["there"]) + (first + 7) * 8
    return saved


def set_registers(values):
    for name, value in values.items():
        gdb.execute("set $%s = %d" % (name, value), to_string=True)


class Standing:
    """`with Standing(actor):` gdb is on its stack, and then where it was."""

    def __init__(self, actor):
        name = text(actor["name"])
        context = own_stack(actor)
        if context is None:
            raise Refusal("`%s` is no thread and no loop: it has no stack of its own" % name)
        if actor["done"] or context["finished"] or int(context["there"]) == 0:
            raise Refusal("`%s` has finished, or has not begun" % name)
        if is_core():
            raise Refusal("a core has no registers to set: this needs the process")
        if gdb.selected_inferior().architecture().name() != "i386:x86-64":
            raise Refusal("where a stack stands is known on x86-64 alone")
        self.saved = saved_registers(context)

    def __enter__(self):
        gdb.newest_frame().select()
        self.before = {name: int(gdb.parse_and_eval("$" + name)) for name in self.saved}
        set_registers(self.saved)

    def __exit__(self, *exception):
        gdb.newest_frame().select()
        set_registers(self.before)


def own_file():
    """rewake's own code, not that of a library or program."""
    return gdb.lookup_global_symbol("sim_world_run").symtab.objfile


def first_outside():
    """The innermost frame with source that is not rewake's own."""
    frame = gdb.newest_frame()
    own = own_file()
    while frame is not None:
        symtab = frame.find_sal().symtab
        if symtab is not None and symtab.objfile.filename != own.filename:
            return frame
        frame = frame.older()
    return None


# ---- The recording. ----------------------------------------------------------------------------

EVENT = struct.Struct("=IIIIIHBBQ")


class Event:
    """A struct sim_event."""

    def __init__(self, index, fields):
        self.index = index
        (self.step, self.cause, self.object, self.site, self.await_, self.actor) = fields[:6]
        self.kind = fields[6]
        self.argument = fields[8]


def events():
    """Those that are still in the ring, in order."""
    recorder = world()["recorder"]
    memory = recorder["memory"]
    count = int(recorder["count"])
    capacity = int(memory["events_capacity"])
    first = max(0, count - capacity)
    if count == 0:
        return
    base = int(memory["events"])
    bytes_ = gdb.selected_inferior().read_memory(base, min(count, capacity) * EVENT.size).tobytes()
    for i in range(first, count):
        yield Event(i, EVENT.unpack_from(bytes_, i % capacity * EVENT.size))


TEXT_OF_OBJECT = 1
TEXT_OF_EVENT = 2


def texts():
    """Names of objects, and what was said at events."""
    recorder = world()["recorder"]
    memory = recorder["memory"]
    count = int(recorder["texts"])
    names, said = {}, {}
    if count == 0:
        return names, said
    inferior = gdb.selected_inferior()
    record = struct.Struct("=QIIII")
    table = inferior.read_memory(int(memory["texts"]), count * record.size).tobytes()
    used = int(recorder["bytes"])
    bytes_ = inferior.read_memory(int(memory["bytes"]), used).tobytes() if used else b""
    for i in range(count):
        key, kind, length, offset, _ = record.unpack_from(table, i * record.size)
        words = bytes_[offset : offset + length].decode("utf-8", "replace")
        if kind == TEXT_OF_OBJECT:
            names.setdefault(key, words)
        elif kind == TEXT_OF_EVENT:
            said.setdefault(key, words)
    return names, said


class Sites:
    """Places in the source by their numbers; sorted by number in the program."""

    def __init__(self):
        try:
            self.table = gdb.parse_and_eval("'site.c'::sites")
        except gdb.error:
            self.table = None
        self.known = {}

    def find(self, number):
        if self.table is None or number == 0:
            return "?"
        low, high = 0, int(self.table["count"])
        while low < high:
            middle = (low + high) // 2
            found = int(self.table["by_id"][middle]["id"])
            if found == number:
                return place(self.table["by_id"][middle])
            low, high = (middle + 1, high) if found < number else (low, middle)
        return "?"

    def __getitem__(self, number):
        if number not in self.known:
            self.known[number] = self.find(number)
        return self.known[number]


class Wait:
    """A line of the ledger (sim/explain/ledger.h)."""

    def __init__(self, event, who, what):
        self.who = who
        self.what = what
        self.step = event.step
        self.site = event.await_ or event.site
        self.end = "open"


class Ledger:
    """Follows each waker from its store to its end, as sim/explain/ledger.c does."""

    ENDS = {"FIRE": "fired", "REPLACE": "replaced", "ERASE": "erased", "DROP": "dropped"}

    def __init__(self):
        self.waits = []
        self.open = {}
        self.polled = {}  # By actor: the task that it polls now.
        self.names, self.said = texts()
        self.whose = {int(actor["index"]): text(actor["name"]) for actor in actors()}
        self.of_task = {}
        self.object_kinds = object_kinds()
        self.kinds = {}
        for name in "STORE FIRE REPLACE ERASE DROP CLONE POLL POLLED WAIT UNWAIT".split():
            self.kinds[constant("RT_PROBE_" + name)] = name
        for name in ("ACTOR", "REPORT"):
            self.kinds[constant("SIM_EVENT_" + name)] = name
        for event in events():
            self.take(event)

    def name(self, number):
        made_by = self.whose.get(number >> 16 & 0xFFF, "the setup")
        if number in self.of_task:
            return self.whose.get(self.of_task[number], "?")
        kind = self.object_kinds.get(number >> 28, "object")
        return self.names.get(number) or "%s %d of %s" % (kind, number & 0xFFFF, made_by)

    def who(self, event):
        task = self.polled.get(event.actor)
        return self.name(task) if task else self.whose.get(event.actor, "the world")

    def begin(self, key, event, what):
        wait = Wait(event, self.who(event), what)
        self.waits.append(wait)
        self.open.setdefault(key, []).append(wait)

    def finish(self, key, event, how):
        chain = self.open.get(key)
        if chain:
            wait = chain.pop(0)
            wait.end = "%s at %d" % (how, event.step)
            by = self.who(event)
            if by not in (wait.who, "the world"):
                wait.end += " by " + by

    def take(self, event):
        kind = self.kinds.get(event.kind)
        key = (event.object, event.argument)
        if kind == "ACTOR" and event.object:
            self.of_task[event.object] = event.actor
        elif kind == "POLL":
            self.polled[event.actor] = event.object
        elif kind == "POLLED":
            self.polled.pop(event.actor, None)
        elif kind == "STORE":
            self.begin(key, event, self.said.get(event.index) or self.name(event.object))
        elif kind == "CLONE":
            self.begin((0, event.argument), event, "(a clone)")
        elif kind == "DROP":
            self.finish((0, event.argument), event, "dropped")
        elif kind == "WAIT":
            self.begin(("host", event.object), event, "host: " + self.name(event.object))
        elif kind == "UNWAIT":
            self.finish(("host", event.object), event, "taken back")
        elif kind == "REPORT":
            while self.open.get(("host", event.object)):
                self.finish(("host", event.object), event, "reported")
        elif kind in self.ENDS:
            self.finish(key, event, self.ENDS[kind])


def object_kinds():
    """Number to word, of this build."""
    fields = gdb.lookup_type("enum rt_object_kind").fields()
    return {int(f.enumval): f.name.replace("RT_OBJECT_", "").lower() for f in fields}


# ---- Telling. ----------------------------------------------------------------------------------


def table(titles, rows):
    widths = [max(len(row[i]) for row in [titles] + rows) for i in range(len(titles))]
    for row in [titles] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def waits_for(actor):
    task = task_of(actor) if not actor["done"] else None
    if task is None:
        return thread_waits_for(actor)
    wanted = []
    for slot in slots_of(task):
        site = slot["await"] if int(slot["await"]) != 0 else slot["site"]
        wanted.append("%s at %s" % (text(slot["reason"], "?"), place(site)))
    return " and ".join(wanted)


def thread_waits_for(actor):
    """The same of a thread of a program."""
    if "<thread_ops>" not in str(actor["ops"]) or actor["done"]:
        return ""
    thread = container(actor.address, "struct sim_thread", "actor")
    wait = thread["wait"]
    if not thread["blocked"] or int(wait["site"]) == 0:
        return ""
    return ("%s at %s" % (text(wait["reason"], ""), place(wait["site"]))).lstrip()


def state_of(actor):
    if actor["done"]:
        return "has finished"
    run = world()
    if int(actor.address) == int(run["stepping"]) and run["step"] > actor["stopped_step"]:
        return "takes step %d" % int(run["step"])
    if actor["enabled"]:
        return "ready since step %d" % int(actor["enabled_step"])
    due = int(actor["due_ns"])
    if due != NEVER:
        return "due at %s" % time(due)
    if kind_of(actor) in ("task", "loop") and int(actor["polls"]) > 0:
        return "sleeps since step %d" % int(actor["stopped_step"])
    return "idle"


def say_where():
    run = world()
    actor = run["stepping"].dereference()
    name = text(actor["name"])
    print(
        "step %d at %s: `%s` (%s %d) is about to take it"
        % (int(run["step"]), time(int(run["now_ns"])), name, kind_of(actor), int(actor["index"]))
    )


# ---- Going on, and back. -----------------------------------------------------------------------


def is_core():
    return "Local core dump" in gdb.execute("info target", False, True)


def arguments():
    """Of the program, as gdb quotes them."""
    return re.search(r'"(.*)"\.?\s*$', gdb.execute("show args", False, True), re.S).group(1)


def go_to(step):
    """To where `step` is about to be taken: on, or by making the run again."""
    if is_core():
        raise Refusal("a core stands still; `rewake replay TOKEN --gdb` makes the run again")
    if step < 1:
        raise Refusal("steps are numbered from 1")
    try:
        run = world()
        here = int(run["step"]) if gdb.selected_inferior().pid != 0 else NEVER
    except Refusal:
        here = NEVER
    if here < step:
        gdb.execute("set variable sim_world_current->trap->step = %d" % step)
        gdb.execute("continue")
        return
    given = arguments()
    if not re.search(r"--step \d+$", given):
        raise Refusal("this gdb was not started by `rewake replay TOKEN --gdb`")
    gdb.execute("set args " + re.sub(r"--step \d+$", "--step %d" % step, given))
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    try:
        gdb.execute("run")
    finally:
        gdb.execute("set confirm %s" % ("on" if confirm else "off"))


def on_stop(event):
    frame = gdb.newest_frame()
    if frame is not None and frame.name() == TRAP_FRAME:
        frame.older().select()
        say_where()


# ---- The commands. -----------------------------------------------------------------------------


class Rewake(gdb.Command):
    """What is known of the run that rewake makes here. `rewake help` lists it."""

    def __init__(self):
        super().__init__("rewake", gdb.COMMAND_USER, gdb.COMPLETE_NONE, True)


class Command(gdb.Command):
    """A word behind `rewake`; its first line of documentation is its help."""

    usage = ""

    def __init__(self):
        super().__init__("rewake " + self.word, gdb.COMMAND_USER)

    def number(self, argument, default):
        argument = argument.strip()
        if argument == "":
            return default
        if not argument.isdigit():
            raise Refusal("usage: rewake %s %s" % (self.word, self.usage))
        return int(argument)


class Help(Command):
    """This list."""

    word = "help"

    def invoke(self, argument, from_tty):
        for command in COMMANDS:
            head = "rewake " + command.word + (" " + command.usage if command.usage else "")
            print("  %-22s %s" % (head, command.__doc__.splitlines()[0]))


class Where(Command):
    """Which step it is, and whose."""

    word = "where"

    def invoke(self, argument, from_tty):
        say_where()


class Tasks(Command):
    """All actors: state, steps taken, and what they wait for."""

    word = "tasks"

    def invoke(self, argument, from_tty):
        rows = []
        for actor in actors():
            rows.append(
                [
                    text(actor["name"]),
                    kind_of(actor),
                    state_of(actor),
                    str(int(actor["polls"])),
                    waits_for(actor),
                ]
            )
        table(["who", "kind", "state", "steps", "waits for"], rows)


class Wakers(Command):
    """The places that hold a waker now: whose, what for, from which line."""

    word = "wakers"
    usage = "[WHO]"

    def invoke(self, argument, from_tty):
        wanted = [find_actor(argument.strip())] if argument.strip() else list(actors())
        rows = []
        for actor in wanted:
            task = task_of(actor) if not actor["done"] else None
            for slot in slots_of(task) if task is not None else []:
                site = slot["await"] if int(slot["await"]) != 0 else slot["site"]
                at = "*(struct rt_slot *)%#x" % int(slot.address)
                rows.append([text(actor["name"]), text(slot["reason"], "?"), place(site), at])
        if rows:
            table(["whose", "waits for", "stored at", "the place"], rows)
        else:
            print("no waker is stored anywhere")


class LedgerCommand(Command):
    """Every waker that was stored so far, and what became of it."""

    word = "ledger"

    def invoke(self, argument, from_tty):
        sites = Sites()
        ledger = Ledger()
        rows = [[w.who, w.what, sites[w.site], str(w.step), w.end] for w in ledger.waits]
        table(["who", "waits for", "stored at", "step", "and then"], rows)


class Step(Command):
    """Goes to step N, forward or back (back is the same run, made again)."""

    word = "step"
    usage = "N"

    def invoke(self, argument, from_tty):
        step = self.number(argument, None)
        if step is None:
            raise Refusal("usage: rewake step N")
        go_to(step)


class Next(Command):
    """Goes on to the next step, or by N steps."""

    word = "next"
    usage = "[N]"

    def invoke(self, argument, from_tty):
        go_to(int(world()["step"]) + self.number(argument, 1))


class Prev(Command):
    """Goes back to the step before, or by N steps."""

    word = "prev"
    usage = "[N]"

    def invoke(self, argument, from_tty):
        go_to(int(world()["step"]) - self.number(argument, 1))


def entry(address):
    """Where to stop in a function: as gdb stops at its name, behind what sets its frame up. Without
    optimisation arguments have no value before that."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    if block is None:
        return "*%#x" % address
    function = block.function
    return '-source "%s" -function "%s"' % (function.symtab.filename, function.name)


def place_of_return(actor):
    """Where a thread or a loop continues in code that is not rewake's."""
    with Standing(actor):
        frame = first_outside()
        if frame is None:
            raise Refusal("no line on the stack of `%s` is known" % text(actor["name"]))
        return "*%#x" % frame.pc()


class Enter(Command):
    """Continues into what takes this step: a poll function, or where a thread stands."""

    word = "enter"

    def invoke(self, argument, from_tty):
        actor = world()["stepping"].dereference()
        task = task_of(actor)
        where = entry(int(task["poll"])) if task is not None else place_of_return(actor)
        gdb.execute("tbreak %s" % where, to_string=True)
        gdb.execute("continue")


class Thread(Command):
    """The stack of a thread or a loop; or a command of gdb there: rewake thread 2 up 3"""

    word = "thread"
    usage = "WHO [COMMAND]"

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not words:
            raise Refusal("usage: rewake thread %s" % self.usage)
        with Standing(find_actor(words[0])):
            frame = first_outside()
            (frame or gdb.newest_frame()).select()
            gdb.execute(" ".join(words[1:]) or "backtrace")


# ---- Printers: `print *task`, `print executor->targets`, … -------------------------------------


class Task:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        task = self.value
        state = str(task["state"]).replace("RT_TASK_", "").lower().replace("_", " ")
        wanted = waits_for(task) if state == "sleeping" else ""
        return "task `%s`: %s, %d polls%s, poll = %s" % (
            text(task["name"]),
            state,
            int(task["polls"]),
            ", waits for " + wanted if wanted else "",
            symbol(task["poll"]),
        )


def symbol(pointer):
    found = re.search(r"<([^>+]+)", str(pointer))
    return found.group(1) if found else "%#x" % int(pointer)


class Waker:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if int(self.value["vt"]) == 0:
            return "null waker"
        wake = symbol(self.value["vt"]["wake"])
        data = int(self.value["data"])
        if "local_wake" in wake or "remote_wake" in wake:
            half = self.value["data"].type.sizeof * 4
            return "waker of entry %d, generation %d" % (data & (1 << half) - 1, data >> half)
        return "waker by %s(), data %#x" % (wake, data)


class List:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if int(self.value["next"]) == 0:
            return "list, not initialised"
        count = sum(1 for _ in links(self.value))
        return "list of %d" % count if count else "empty list"

    def children(self):
        for i, node in enumerate(links(self.value)):
            yield "[%d]" % i, "%#x" % int(node)


class Slab:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "slab, %d of %d taken" % (int(self.value["used"]), int(self.value["capacity"]))

    def children(self):
        for i in range(int(self.value["touched"])):
            entry = self.value["entries"][i]
            if entry["taken"]:
                words = "%#x, generation %d" % (
                    int(entry["as"]["pointer"]),
                    int(entry["generation"]),
                )
                yield "[%d]" % i, words


class Poller:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "poller, %d of %d pollables registered, %d in the list" % (
            int(self.value["slab"]["used"]),
            int(self.value["capacity"]),
            int(self.value["count"]),
        )

    def children(self):
        return Slab(self.value["slab"]).children()


class Slot:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if int(self.value["waker"]["vt"]) == 0:
            return "slot, empty"
        site = self.value["await"] if int(self.value["await"]) != 0 else self.value["site"]
        return "slot for %s, stored at %s: %s" % (
            text(self.value["reason"], "?"),
            place(site),
            Waker(self.value["waker"]).to_string(),
        )


def register_printers():
    import gdb.printing

    printers = gdb.printing.RegexpCollectionPrettyPrinter("rewake")
    for name, printer in (
        ("task", Task),
        ("waker", Waker),
        ("list", List),
        ("slab", Slab),
        ("poller", Poller),
        ("slot", Slot),
    ):
        printers.add_printer(name, "^rt_%s$" % name, printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)


Rewake()
COMMANDS = [
    command()
    for command in (Where, Tasks, Wakers, LedgerCommand, Step, Next, Prev, Enter, Thread, Help)
]
register_printers()
gdb.events.stop.connect(on_stop)
# A breakpoint in a library that is loaded later is set on purpose.
gdb.execute("set breakpoint pending on")
# The trap is how a step is found, no fault of the program.
gdb.execute("handle SIGTRAP stop print nopass", False, True)
# A system call that no name of the C library makes arrives so, and is simulated.
gdb.execute("handle SIGSYS nostop noprint pass", False, True)

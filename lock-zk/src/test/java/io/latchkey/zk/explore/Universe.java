package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.State;
import io.latchkey.zk.explore.Client.Lane;
import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.recipe.Recipe;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/**
 * All worlds of a scope, and the steps between them. A world is a row of numbers, one for the server and one for each
 * session, which stand for values that were met. What a step does to one of these values is found out once and
 * remembered, so that the machines run once for every situation that a session can be in, not once for every world.
 *
 * <p>Sessions that want the same and have done nothing yet cannot be told apart, so only the first of them moves: every
 * other schedule is one of these with the names exchanged.
 */
final class Universe {
    /** Ids are the numbers of sessions, requests and attempts, so far apart. */
    private static final int ATTEMPTS = 1 << 8;

    private static final int REQUESTS = 1 << 8;

    private static final int NOBODY = -1;

    private final Scope scope;
    private final Laws laws;
    private final Values<Server> servers = new Values<>();
    private final Values<Client> clients = new Values<>();
    private final Values<Change> changes = new Values<>();
    private final Map<List<Object>, Queue> queues = new HashMap<>();
    private final Set<Reached> reached = EnumSet.noneOf(Reached.class);
    private final int[] initial;

    private final LongMap served = new LongMap();
    private final List<Served> services = new ArrayList<>();
    private final LongMap fired = new LongMap();
    private final LongMap removed = new LongMap();
    private final Map<Step.Kind, LongMap> acted = new EnumMap<>(Step.Kind.class);
    private final List<Facts> facts = new ArrayList<>();

    /** Numbers for values. */
    private static final class Values<T> {
        private final Map<T, Integer> numbers = new HashMap<>();
        private final List<T> values = new ArrayList<>();

        int number(T value) {
            return numbers.computeIfAbsent(value, v -> {
                values.add(v);
                return values.size() - 1;
            });
        }

        T get(int number) {
            return values.get(number);
        }
    }

    /** What the server's taking of a question does to it and to who asked. */
    private static final class Served {
        final int server;
        final int client;
        final int[] changes;

        Served(int server, int client, int[] changes) {
            this.server = server;
            this.client = client;
            this.changes = changes;
        }
    }

    /** What is wanted of a session at every step. */
    private static final class Facts {
        /** What it and the server may do for it, whatever the others do. */
        final List<Step> steps;

        final boolean quiet;
        final boolean over;
        final boolean idle;
        /** One bit for each granted request. */
        final int granted;

        Facts(List<Step> steps, Client client) {
            this.steps = steps;
            this.quiet = client.isQuiet();
            this.over = client.isOver();
            this.idle = over && client.out().isEmpty() && client.in().isEmpty();
            this.granted = client.granted().stream().mapToInt(r -> 1 << r).sum();
        }
    }

    Universe(Scope scope) {
        this.scope = scope;
        this.laws = new Laws(scope);
        int sessions = scope.sessions().size();
        initial = new int[1 + sessions];
        initial[0] = servers.number(Server.of(scope));
        for (int s = 0; s < sessions; s++) {
            initial[1 + s] = number(begun(s));
        }
    }

    /**
     * All requests have begun at the beginning: that puts their creates into pipes from which the server takes them
     * whenever it likes.
     */
    private Client begun(int session) {
        List<Machine> machines = new ArrayList<>();
        for (int r = 0; r < scope.sessions().get(session).size(); r++) {
            int first = (REQUESTS * session + r) * ATTEMPTS;
            machines.add(Machine.fresh(
                    first,
                    scope.request(session, r).wishes().stream()
                            .map(wish -> wish.recipe().rule())
                            .toList()));
        }
        Client fresh = new Client(
                session,
                List.copyOf(machines),
                Set.of(),
                Collections.nCopies(scope.paths(), Lane.NEW),
                Map.of(),
                Map.of(),
                List.of(),
                List.of(),
                Set.of());
        Shell shell = shell(fresh);
        for (int r = 0; r < machines.size(); r++) {
            shell.begin(r);
        }
        return shell.packed();
    }

    int[] initial() {
        return initial;
    }

    Set<Reached> reached() {
        return reached;
    }

    /** How many situations of one session were met. */
    int situations() {
        return facts.size();
    }

    private Shell shell(Client from) {
        return new Shell(scope, queues, reached, from);
    }

    private int number(Client client) {
        int number = clients.number(client);
        if (number == facts.size()) {
            facts.add(facts(client));
        }
        return number;
    }

    private Facts facts(Client client) {
        List<Step> steps = new ArrayList<>();
        if (!client.out().isEmpty()) {
            steps.add(new Step(Step.Kind.SERVE, client.session(), 0));
        }
        if (!client.in().isEmpty()) {
            steps.add(new Step(Step.Kind.DELIVER, client.session(), 0));
        }
        for (int r = 0; r < client.machines().size(); r++) {
            State state = client.machines().get(r).state();
            if (state == State.CONFIRMING && scope.delays().contains(Delay.CONFIRMATION)) {
                steps.add(new Step(Step.Kind.CONFIRM, client.session(), r));
            } else if (state == State.HELD) {
                steps.add(new Step(Step.Kind.RELEASE, client.session(), r));
            }
        }
        return new Facts(List.copyOf(steps), client);
    }

    // ---- what can happen

    List<Step> steps(int[] world) {
        List<Step> steps = new ArrayList<>();
        Server server = servers.get(world[0]);
        Budget budget = server.budget();
        boolean idle = true;
        for (int s = 0; s < world.length - 1; s++) {
            Facts client = facts.get(world[1 + s]);
            idle &= client.idle;
            if (isTwinOfFormer(world, s)) {
                continue;
            }
            steps.addAll(client.steps);
            if (budget.cancels() > 0 && !client.over) {
                addCancels(world, s, steps);
            }
            if (budget.crashes() > 0 && !client.idle) {
                steps.add(new Step(Step.Kind.CRASH, s, 0));
            }
            if (budget.expiries() > 0 && !client.over) {
                steps.add(new Step(Step.Kind.EXPIRE, s, 0));
            }
        }
        if (!idle && budget.resizes() > 0) {
            for (int capacity : scope.sizes()) {
                if (capacity != server.trees().get(0).capacity()) {
                    steps.add(new Step(Step.Kind.RESIZE, 0, capacity));
                }
            }
        }
        if (budget.robberies() > 0) {
            for (int path = 0; path < server.trees().size(); path++) {
                for (int i = 0; i < server.trees().get(path).nodes().size(); i++) {
                    steps.add(new Step(Step.Kind.ROB, path, i));
                }
            }
        }
        return steps;
    }

    private void addCancels(int[] world, int session, List<Step> steps) {
        List<Machine> machines = clients.get(world[1 + session]).machines();
        for (int r = 0; r < machines.size(); r++) {
            State state = machines.get(r).state();
            if (state == State.ENQUEUEING || machines.get(r).isWaiting()) {
                steps.add(new Step(Step.Kind.CANCEL, session, r));
            }
        }
    }

    private boolean isTwinOfFormer(int[] world, int session) {
        return session > 0
                && world[1 + session] == initial[1 + session]
                && world[session] == initial[session]
                && wants(session).equals(wants(session - 1));
    }

    private String wants(int session) {
        return scope.sessions().get(session).toString();
    }

    // ---- what it does

    int[] after(int[] world, Step step) {
        int first = step.first();
        int second = step.second();
        int[] next = world.clone();
        switch (step.kind()) {
            case SERVE -> serve(next, first);
            case DELIVER -> act(next, step, Shell::takeNext);
            case CONFIRM -> act(next, step, shell -> shell.confirm(second));
            case RELEASE -> act(next, step, shell -> shell.release(second));
            case CANCEL -> {
                spend(next, Budget::cancels, Budget::cancels);
                act(next, step, shell -> shell.giveUp(second));
            }
            case CRASH -> {
                spend(next, Budget::crashes, Budget::crashes);
                act(next, step, Shell::crash);
                removeNodesOf(next, first);
            }
            case EXPIRE -> {
                spend(next, Budget::expiries, Budget::expiries);
                act(next, step, Shell::expire);
                removeNodesOf(next, first);
            }
            case RESIZE -> {
                spend(next, Budget::resizes, Budget::resizes);
                next[0] = servers.number(servers.get(next[0]).resized(first, second));
                fire(next, changes.number(new Change.Resized(first)), NOBODY);
            }
            case ROB -> {
                spend(next, Budget::robberies, Budget::robberies);
                Server server = servers.get(next[0]);
                remove(
                        next,
                        Target.of(
                                first,
                                server.trees().get(first).nodes().get(second).name()),
                        NOBODY);
            }
        }
        for (int s = 0; s < next.length - 1; s++) {
            if (next[1 + s] != world[1 + s]) {
                checkGrants(next, s, facts.get(next[1 + s]).granted & ~facts.get(world[1 + s]).granted);
            }
        }
        return next;
    }

    private void spend(int[] world, ToIntFunction<Budget> left, BiFunction<Budget, Integer, Budget> with) {
        Server server = servers.get(world[0]);
        int now = left.applyAsInt(server.budget());
        if (now != Budget.ANY) {
            world[0] = servers.number(server.budget(with.apply(server.budget(), now - 1)));
        }
    }

    private void act(int[] world, Step step, Consumer<Shell> what) {
        int client = world[1 + step.first()];
        LongMap known = acted.computeIfAbsent(step.kind(), kind -> new LongMap());
        int after = known.get(client, step.second());
        if (after == LongMap.NONE) {
            Shell shell = shell(clients.get(client));
            what.accept(shell);
            after = number(shell.packed());
            known.put(client, step.second(), after);
        }
        world[1 + step.first()] = after;
    }

    /** Says whether anybody is told. */
    private boolean fire(int[] world, int change, int butFor) {
        boolean told = false;
        for (int s = 0; s < world.length - 1; s++) {
            if (s != butFor) {
                int after = fired(world[1 + s], change);
                told |= after != world[1 + s];
                world[1 + s] = after;
            }
        }
        return told;
    }

    private int fired(int client, int change) {
        int after = fired.get(client, change);
        if (after == LongMap.NONE) {
            Shell shell = shell(clients.get(client));
            shell.fire(changes.get(change));
            after = number(shell.packed());
            fired.put(client, change, after);
        }
        return after;
    }

    private void removeNodesOf(int[] world, int session) {
        Server server = servers.get(world[0]);
        for (int path = 0; path < server.trees().size(); path++) {
            for (Server.Node node : server.trees().get(path).nodes()) {
                if (node.session() == session) {
                    remove(world, Target.of(path, node.name()), session);
                }
            }
        }
    }

    private void remove(int[] world, Target node, int butFor) {
        int[] before = world.clone();
        Change.Gone gone = new Change.Gone(node, Ask.Manner.PLAIN);
        int change = changes.number(gone);
        int after = removed.get(world[0], change);
        if (after == LongMap.NONE) {
            after = servers.number(
                    servers.get(world[0]).without(node.path(), node.node().orElseThrow()));
            removed.put(world[0], change, after);
        }
        world[0] = after;
        boolean moved = fire(world, changes.number(new Change.Moved(node.path())), butFor);
        if (fire(world, change, butFor) || moved) {
            laws.checkWoken(servers.get(before[0]), clients(before), gone);
        }
    }

    private void serve(int[] world, int session) {
        int number = served.get(world[0], world[1 + session]);
        if (number == LongMap.NONE) {
            number = services.size();
            services.add(served(servers.get(world[0]), clients.get(world[1 + session])));
            served.put(world[0], world[1 + session], number);
        }
        Served done = services.get(number);
        int[] before = world.clone();
        world[0] = done.server;
        world[1 + session] = done.client;
        boolean told = false;
        for (int change : done.changes) {
            told |= fire(world, change, session);
            if (told && changes.get(change) instanceof Change.Gone gone) {
                laws.checkWoken(servers.get(before[0]), clients(before), gone);
            }
        }
    }

    /**
     * One question and the trifles behind it, or in a coarse world all questions that are in the pipe.
     */
    private Served served(Server server, Client client) {
        Shell shell = shell(client);
        List<Integer> changed = new ArrayList<>();
        int waiting = client.out().size();
        Server after = server;
        do {
            after = serve(after, client.session(), shell, changed);
            waiting--;
        } while (scope.delays().contains(Delay.SERVICE)
                ? shell.asksForWhatItKnows(after)
                : waiting > 0 && shell.asks());
        return new Served(
                servers.number(after),
                number(shell.packed()),
                changed.stream().mapToInt(i -> i).toArray());
    }

    private Server serve(Server server, int session, Shell shell, List<Integer> changed) {
        Ask ask = shell.taken();
        Server after = server;
        if (ask instanceof Ask.Create create) {
            List<NodeName> names = new ArrayList<>();
            for (Scope.Wish wish : scope.request(session, create.request()).wishes()) {
                int sequence = after.trees().get(wish.path()).created();
                NodeName name = name(wish.recipe(), create.id(), sequence);
                names.add(name);
                move(wish.path(), shell, changed);
                after = after.with(wish.path(), new Server.Node(name, session, create.request(), 0, false));
            }
            shell.tell(new Tell.Created(create.request(), List.copyOf(names)));
        } else if (ask instanceof Ask.Read read) {
            shell.tell(new Tell.DataRead(
                    read.path(), server.trees().get(read.path()).data(), read.heldBack()));
        } else if (ask instanceof Ask.ListQueue list) {
            Server.Tree tree = server.trees().get(list.path());
            shell.tell(new Tell.Listing(list.path(), tree.data().version(), tree.names(), list.served()));
        } else if (ask instanceof Ask.Watch watch) {
            watch(server, shell, watch);
        } else if (ask instanceof Ask.Unwatch unwatch) {
            shell.disarm(unwatch.target());
        } else if (ask instanceof Ask.Word word) {
            if (isThere(server, word.node())) {
                after = after.word(word.node().path(), word.node().node().orElseThrow());
                changed.add(changes.number(new Change.Word(word.node())));
            }
        } else if (ask instanceof Ask.Delete delete) {
            boolean whole = delete.nodes().stream().allMatch(node -> isThere(server, node));
            for (Target node : delete.nodes()) {
                if (isThere(server, node)) {
                    after = after.without(node.path(), node.node().orElseThrow());
                    Change change = new Change.Gone(node, whole ? delete.manner() : Ask.Manner.PLAIN);
                    shell.fire(change);
                    changed.add(changes.number(change));
                    move(node.path(), shell, changed);
                }
            }
            shell.tell(new Tell.Deleted(delete.nodes()));
        }
        return after;
    }

    private void move(int path, Shell shell, List<Integer> changed) {
        Change moved = new Change.Moved(path);
        shell.fire(moved);
        changed.add(changes.number(moved));
    }

    private static void watch(Server server, Shell shell, Ask.Watch watch) {
        Target target = watch.target();
        Server.Tree tree = server.trees().get(target.path());
        if (target.node().isEmpty()) {
            shell.arm(target, watch.kind());
            shell.tell(
                    watch.kind() == Ask.Kind.DATA
                            ? new Tell.Watched(target.path(), tree.data(), watch.generation())
                            : new Tell.Children(target.path(), tree.names(), watch.generation()));
        } else if (isThere(server, target)) {
            shell.arm(target, watch.kind());
            if (server.hasWord(target.path(), target.node().get())) {
                shell.tell(new Tell.WordSeen(target, watch.generation()));
            }
        } else {
            shell.tell(new Tell.NotThere(target, watch.generation()));
        }
    }

    private static boolean isThere(Server server, Target node) {
        return server.trees().get(node.path()).has(node.node().orElseThrow());
    }

    private static NodeName name(Recipe recipe, String id, int sequence) {
        return NodeName.parse(NodeName.prefix(recipe.tag(), id, recipe.permits()) + String.format("%010d", sequence))
                .orElseThrow();
    }

    // ---- what must be true

    private void checkGrants(int[] world, int session, int granted) {
        for (int r = 0; granted >> r != 0; r++) {
            if ((granted >> r & 1) != 0) {
                laws.checkGrant(servers.get(world[0]), clients(world), session, r);
            }
        }
    }

    /** Says whether nothing is on its way in this world; all is well there then. */
    void check(int[] world) {
        boolean quiet = true;
        boolean idle = true;
        for (int s = 1; s < world.length; s++) {
            Facts client = facts.get(world[s]);
            quiet &= client.quiet;
            idle &= client.idle;
        }
        if (quiet) {
            laws.checkQuiet(servers.get(world[0]), clients(world));
        }
        if (idle) {
            laws.checkEnd(servers.get(world[0]), clients(world));
        }
    }

    private List<Client> clients(int[] world) {
        List<Client> all = new ArrayList<>(world.length - 1);
        for (int s = 1; s < world.length; s++) {
            all.add(clients.get(world[s]));
        }
        return all;
    }

    Server server(int[] world) {
        return servers.get(world[0]);
    }

    /** The server, and how far everybody's requests are. */
    List<Object> seenFromOutside(int[] world) {
        List<Object> all = new ArrayList<>();
        all.add(servers.get(world[0]));
        for (Client client : clients(world)) {
            all.add(client.machines().stream().map(Machine::state).toList());
        }
        return all;
    }

    boolean isQuiet(int[] world) {
        for (int s = 1; s < world.length; s++) {
            if (!facts.get(world[s]).quiet) {
                return false;
            }
        }
        return true;
    }

    // ---- for a person to read

    String describe(int[] before, Step step) {
        int first = step.first();
        int second = step.second();
        String who = Scope.name(first) + (second == 0 ? "" : "'s second request");
        String what =
                switch (step.kind()) {
                    case SERVE ->
                        "server takes from " + who + ": "
                                + shown(client(before, first).out().get(0));
                    case DELIVER ->
                        who + " is told: " + client(before, first).in().get(0);
                    case CONFIRM -> who + " is sure of its session";
                    case RELEASE -> who + " releases";
                    case CANCEL -> who + " gives up";
                    case CRASH -> who + " crashes, its session is over";
                    case EXPIRE -> "the session of " + who + " is over";
                    case RESIZE -> "the capacity becomes " + second;
                    case ROB ->
                        "an operator deletes "
                                + Target.of(
                                        first,
                                        servers.get(before[0])
                                                .trees()
                                                .get(first)
                                                .nodes()
                                                .get(second)
                                                .name());
                };
        return what + effects(before, step);
    }

    private Client client(int[] world, int session) {
        return clients.get(world[1 + session]);
    }

    private String effects(int[] before, Step step) {
        int[] after;
        try {
            after = after(before, step);
        } catch (Violation shownBelow) {
            return "";
        }
        StringBuilder all = new StringBuilder();
        for (int s = 0; s < before.length - 1; s++) {
            Client was = client(before, s);
            Client is = client(after, s);
            List<Ask> asked = is.out().size() >= was.out().size() || !was.out().isEmpty()
                    ? is.out().stream().filter(ask -> !was.out().contains(ask)).toList()
                    : List.of();
            List<State> states = is.machines().stream().map(Machine::state).toList();
            boolean moved =
                    !states.equals(was.machines().stream().map(Machine::state).toList());
            boolean grant = !was.granted().containsAll(is.granted());
            if (moved || grant || !asked.isEmpty()) {
                all.append("; ")
                        .append(Scope.name(s))
                        .append(grant ? " is granted and" : "")
                        .append(' ');
                all.append(moved ? states.toString().toLowerCase(java.util.Locale.ROOT) : "");
                all.append(
                        asked.isEmpty()
                                ? ""
                                : " asks: "
                                        + asked.stream().map(Universe::shown).toList());
            }
        }
        return all.toString();
    }

    private static String shown(Ask ask) {
        if (ask instanceof Ask.Create) {
            return "create";
        } else if (ask instanceof Ask.Read) {
            return "read capacity";
        } else if (ask instanceof Ask.ListQueue) {
            return "list";
        } else if (ask instanceof Ask.Word word) {
            return "tell by " + word.node();
        } else if (ask instanceof Ask.Watch watch) {
            boolean line = watch.target().node().isEmpty() && watch.kind() == Ask.Kind.CHILDREN;
            return "watch " + (line ? "the queue" : watch.target());
        } else if (ask instanceof Ask.Unwatch unwatch) {
            return "unwatch " + unwatch.target();
        } else if (ask instanceof Ask.Delete delete) {
            return (delete.manner() == Ask.Manner.MARKED ? "mark and delete " : "delete ") + delete.nodes();
        }
        return Objects.toString(ask);
    }
}

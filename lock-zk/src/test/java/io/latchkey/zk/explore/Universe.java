// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.State;
import io.latchkey.zk.explore.Client.Lane;
import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.queue.Queue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
final class Universe implements Space<Step> {
    static final int NOBODY = -1;

    /** Ids are the numbers of sessions, requests and attempts, so far apart. */
    private static final int ATTEMPTS = 1 << 8;

    private static final int REQUESTS = 1 << 8;

    private final Scope scope;
    private final Laws laws;
    private final Values<Server> servers = new Values<>();
    private final Values<Client> clients = new Values<>();
    private final Values<Change> changes = new Values<>();
    private final Map<List<Object>, Queue> queues = new HashMap<>();
    private final Set<Reached> reached = EnumSet.noneOf(Reached.class);
    private final int[] initial;

    private final Values<Object> sights = new Values<>();
    private final LongMap answered = new LongMap();
    private final LongMap served = new LongMap();
    private final List<Move> services = new ArrayList<>();
    private final LongMap fired = new LongMap();
    private final LongMap removed = new LongMap();
    private final Map<Step.Kind, LongMap> acted = new EnumMap<>(Step.Kind.class);
    private final List<Facts> facts = new ArrayList<>();

    /** What is wanted of a session at every step. */
    static final class Facts {
        final int session;
        /** What it and the server may do for it, whatever the others do. */
        final List<Step> steps;

        final List<Step> cancels;
        final boolean quiet;
        final boolean over;
        final boolean idle;
        /** One bit for each granted request. */
        final int granted;

        Facts(List<Step> steps, List<Step> cancels, Client client) {
            this.session = client.session();
            this.steps = steps;
            this.cancels = cancels;
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

    @Override
    public int[] initial() {
        return initial;
    }

    @Override
    public Set<Reached> reached() {
        return reached;
    }

    /** How many situations of one session were met. */
    int situations() {
        return facts.size();
    }

    Server server(int number) {
        return servers.get(number);
    }

    Client client(int number) {
        return clients.get(number);
    }

    Facts facts(int client) {
        return facts.get(client);
    }

    Change change(int number) {
        return changes.get(number);
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
        List<Step> cancels = new ArrayList<>();
        if (!client.out().isEmpty()) {
            steps.add(new Step(Step.Kind.SERVE, client.session(), 0));
        }
        if (!client.in().isEmpty()) {
            steps.add(new Step(Step.Kind.DELIVER, client.session(), 0));
        }
        for (int r = 0; r < client.machines().size(); r++) {
            Machine machine = client.machines().get(r);
            State state = machine.state();
            if (state == State.CONFIRMING && scope.delays().contains(Delay.CONFIRMATION)) {
                steps.add(new Step(Step.Kind.CONFIRM, client.session(), r));
            } else if (state == State.HELD) {
                steps.add(new Step(Step.Kind.RELEASE, client.session(), r));
            }
            if (state == State.ENQUEUEING || machine.isWaiting()) {
                cancels.add(new Step(Step.Kind.CANCEL, client.session(), r));
            }
        }
        return new Facts(List.copyOf(steps), List.copyOf(cancels), client);
    }

    // ---- what can happen

    @Override
    public List<Step> steps(int[] world) {
        List<Step> steps = new ArrayList<>();
        for (int s = 0; s < world.length - 1; s++) {
            if (!isTwinOfFormer(world, s)) {
                addSteps(world[0], world[1 + s], steps);
            }
        }
        steps.addAll(operators(world[0]));
        return steps;
    }

    /** What a session may do, or the server for it. */
    void addSteps(int server, int client, List<Step> steps) {
        Budget budget = servers.get(server).budget();
        Facts known = facts.get(client);
        steps.addAll(known.steps);
        if (budget.cancels() > 0) {
            steps.addAll(known.cancels);
        }
        if (budget.crashes() > 0 && !known.idle) {
            steps.add(new Step(Step.Kind.CRASH, known.session, 0));
        }
        if (budget.expiries() > 0 && !known.over) {
            steps.add(new Step(Step.Kind.EXPIRE, known.session, 0));
        }
    }

    /** What an operator may do. */
    List<Step> operators(int server) {
        List<Step> steps = new ArrayList<>();
        List<Server.Tree> trees = servers.get(server).trees();
        Budget budget = servers.get(server).budget();
        if (budget.resizes() > 0) {
            for (int capacity : scope.sizes()) {
                if (capacity != trees.get(0).capacity()) {
                    steps.add(new Step(Step.Kind.RESIZE, 0, capacity));
                }
            }
        }
        if (budget.robberies() > 0) {
            for (int path = 0; path < trees.size(); path++) {
                for (int i = 0; i < trees.get(path).nodes().size(); i++) {
                    steps.add(new Step(Step.Kind.ROB, path, i));
                }
            }
        }
        return steps;
    }

    private boolean isTwinOfFormer(int[] world, int session) {
        return session > 0
                && world[1 + session] == initial[1 + session]
                && world[session] == initial[session]
                && scope.areTwins(session - 1, session);
    }

    // ---- what it does

    @Override
    public int[] after(int[] world, Step step) {
        int who = step.session();
        int[] next = world.clone();
        Move move = move(world[0], who == NOBODY ? NOBODY : world[1 + who], step);
        next[0] = move.server;
        boolean told = false;
        for (int s = 0; s < next.length - 1; s++) {
            next[1 + s] = s == who ? move.client : told(world[1 + s], move.changes);
            told |= s != who && next[1 + s] != world[1 + s];
        }
        if (told) {
            checkWoken(world, move.changes);
        }
        for (int s = 0; s < next.length - 1; s++) {
            if ((facts.get(next[1 + s]).granted & ~facts.get(world[1 + s]).granted) != 0) {
                laws.checkGrants(servers.get(next[0]), clients(next));
            }
        }
        return next;
    }

    /**
     * What the step of a session does, or of {@link #NOBODY}. That depends on the server and on the session alone, and
     * nobody else learns of it but by {@link #told}.
     */
    Move move(int server, int client, Step step) {
        int first = step.first();
        int second = step.second();
        return switch (step.kind()) {
            case SERVE -> served(server, client);
            case DELIVER -> Move.within(server, acted(client, step, Shell::takeNext));
            case CONFIRM -> Move.within(server, acted(client, step, shell -> shell.confirm(second)));
            case RELEASE -> Move.within(server, acted(client, step, shell -> shell.release(second)));
            case CANCEL ->
                Move.within(
                        spent(server, Budget::cancels, Budget::cancels),
                        acted(client, step, shell -> shell.giveUp(second)));
            case CRASH ->
                removed(
                        spent(server, Budget::crashes, Budget::crashes),
                        acted(client, step, Shell::crash),
                        nodesOf(server, first));
            case EXPIRE ->
                removed(
                        spent(server, Budget::expiries, Budget::expiries),
                        acted(client, step, Shell::expire),
                        nodesOf(server, first));
            case RESIZE -> {
                int left = spent(server, Budget::resizes, Budget::resizes);
                yield new Move(
                        servers.number(servers.get(left).resized(first, second)),
                        NOBODY,
                        changes.number(new Change.Resized(first)));
            }
            case ROB -> {
                int left = spent(server, Budget::robberies, Budget::robberies);
                Server.Node node =
                        servers.get(server).trees().get(first).nodes().get(second);
                yield removed(left, NOBODY, List.of(Target.of(first, node.name())));
            }
        };
    }

    private int spent(int server, ToIntFunction<Budget> left, BiFunction<Budget, Integer, Budget> with) {
        Server before = servers.get(server);
        int now = left.applyAsInt(before.budget());
        return now == Budget.ANY ? server : servers.number(before.budget(with.apply(before.budget(), now - 1)));
    }

    private int acted(int client, Step step, Consumer<Shell> what) {
        LongMap known = acted.computeIfAbsent(step.kind(), kind -> new LongMap());
        int after = known.get(client, step.second());
        if (after == LongMap.NONE) {
            Shell shell = shell(clients.get(client));
            what.accept(shell);
            after = number(shell.packed());
            known.put(client, step.second(), after);
        }
        return after;
    }

    /** What others become by what their watches see. */
    int told(int client, int[] seen) {
        int after = client;
        for (int change : seen) {
            after = fired(after, change);
        }
        return after;
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

    private List<Target> nodesOf(int server, int session) {
        List<Target> nodes = new ArrayList<>();
        List<Server.Tree> trees = servers.get(server).trees();
        for (int path = 0; path < trees.size(); path++) {
            for (Server.Node node : trees.get(path).nodes()) {
                if (node.session() == session) {
                    nodes.add(Target.of(path, node.name()));
                }
            }
        }
        return nodes;
    }

    private Move removed(int server, int client, List<Target> nodes) {
        int after = server;
        int[] seen = new int[2 * nodes.size()];
        for (int i = 0; i < nodes.size(); i++) {
            Target node = nodes.get(i);
            seen[2 * i] = changes.number(new Change.Gone(node, Ask.Manner.PLAIN));
            seen[2 * i + 1] = changes.number(new Change.Moved(node.path()));
            after = removed(after, node, seen[2 * i]);
        }
        return new Move(after, client, seen);
    }

    private int removed(int server, Target node, int change) {
        int after = removed.get(server, change);
        if (after == LongMap.NONE) {
            after = servers.number(
                    servers.get(server).without(node.path(), node.node().orElseThrow()));
            removed.put(server, change, after);
        }
        return after;
    }

    /** One question and the trifles behind it, or in a coarse world all questions that are in the pipe. */
    private Move served(int server, int client) {
        if (!scope.delays().contains(Delay.SERVICE)) {
            return taken(server, client, clients.get(client).out().size());
        }
        Move all = taken(server, client);
        while (isTrifle(all.server, all.client)) {
            all = all.then(taken(all.server, all.client));
        }
        return all;
    }

    private boolean isTrifle(int server, int client) {
        return !scope.delays().contains(Delay.TRIFLES) && clients.get(client).asksForATrifle(servers.get(server));
    }

    /** The server takes one question. What a session is told depends on what it asks for, not on all of the server. */
    private Move taken(int server, int client) {
        Optional<Object> sight =
                Service.sight(servers.get(server), clients.get(client).out().get(0));
        if (sight.isEmpty()) {
            return taken(server, client, 1);
        }
        int seen = sights.number(sight.get());
        int after = answered.get(seen, client);
        if (after == LongMap.NONE) {
            after = taken(server, client, 1).client;
            answered.put(seen, client, after);
        }
        return Move.within(server, after);
    }

    private Move taken(int server, int client, int questions) {
        int number = served.get(server, client);
        if (number == LongMap.NONE) {
            Shell shell = shell(clients.get(client));
            Service service =
                    new Service(scope, servers.get(server), clients.get(client).session(), shell);
            for (int i = 0; i < questions && shell.asks(); i++) {
                service.takeNext();
            }
            number = services.size();
            services.add(new Move(
                    servers.number(service.server()),
                    number(shell.packed()),
                    service.changes().stream().mapToInt(changes::number).toArray()));
            served.put(server, client, number);
        }
        return services.get(number);
    }

    // ---- what must be true

    private void checkWoken(int[] before, int[] seen) {
        for (int change : seen) {
            if (changes.get(change) instanceof Change.Gone gone) {
                Server server = servers.get(before[0]);
                laws.checkWoken(
                        server,
                        gone,
                        clients(before).stream()
                                .map(client -> laws.woken(server, client, gone))
                                .toList());
            }
        }
    }

    @Override
    public void check(int[] world) {
        boolean quiet = isQuiet(world);
        boolean idle = quiet;
        for (int s = 1; idle && s < world.length; s++) {
            idle = facts.get(world[s]).idle;
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

    /** The server, and how far everybody's requests are. */
    List<Object> seenFromOutside(int[] world) {
        List<Object> all = new ArrayList<>();
        all.add(servers.get(world[0]));
        for (Client client : clients(world)) {
            all.add(client.machines().stream().map(Machine::state).toList());
        }
        return all;
    }

    /** Whether nothing is on its way. */
    boolean isQuiet(int[] world) {
        for (int s = 1; s < world.length; s++) {
            if (!facts.get(world[s]).quiet) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String describe(int[] before, Step step) {
        String what = Tale.of(step, servers.get(before[0]), session -> clients.get(before[1 + session]));
        try {
            return what + Tale.effects(clients(before), clients(after(before, step)));
        } catch (Violation shownBelow) {
            return what;
        }
    }
}

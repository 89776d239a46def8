// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * One script of requests, drawn from one number: a few sessions ask for everything that the store can be asked for, on
 * paths that may be missing, and are cut off and expired. Its choices depend on the responses, so that two servers with
 * the same responses get the same requests. It writes down all answers, events and changes of sessions.
 */
final class RequestScript {
    private static final int SESSIONS = 3;
    private static final int STEPS = 40;
    private static final List<String> PATHS = List.of("/a", "/a/b", "/c");

    private final SplittableRandom random;
    private final TestServer server;
    private final List<ZnodeStore> stores = new ArrayList<>();
    private final List<SessionMessages> heard = new ArrayList<>();
    private final List<String> nodes = new ArrayList<>();
    private final List<Line> lines = new ArrayList<>();

    /** A line with the zxids that it names, each standing as {@code %s}. */
    private record Line(String text, List<Long> zxids) {}

    RequestScript(long seed, TestServer server) {
        this.random = new SplittableRandom(seed);
        this.server = server;
    }

    /** The record, line by line; zxids are replaced by their rank among those received. */
    List<String> play() throws IOException, InterruptedException {
        for (int i = 0; i < SESSIONS; i++) {
            heard.add(new SessionMessages());
            stores.add(server.open(heard.get(i)));
        }
        collect();
        for (int step = 0; step < STEPS; step++) {
            int who = random.nextInt(SESSIONS);
            switch (random.nextInt(24)) {
                case 0 -> expire(who);
                case 1 -> {
                    say("cut S" + who);
                    server.cut(stores.get(who));
                }
                default -> burst(who);
            }
            server.settle();
            collect();
        }
        return ranked();
    }

    private void say(String text) {
        lines.add(new Line(text, List.of()));
    }

    private void expire(int who) throws IOException, InterruptedException {
        say("expire S" + who);
        server.expire(stores.get(who));
        server.settle();
        heard.get(who).forgetWhatCameBefore("disconnected");
        heard.forEach(SessionMessages::sortEventsOfOneChange);
        collect();
        heard.set(who, new SessionMessages());
        stores.set(who, server.open(heard.get(who)));
    }

    /** Some requests one behind the other, without waiting for answers. */
    private void burst(int who) {
        for (int left = random.nextInt(1, 4); left > 0; left--) {
            ask(stores.get(who), heard.get(who), who);
        }
    }

    private String anyPath() {
        boolean node = !nodes.isEmpty() && random.nextInt(3) == 0;
        return node ? nodes.get(random.nextInt(nodes.size())) : PATHS.get(random.nextInt(PATHS.size()));
    }

    private byte[] anyData() {
        return ("data " + random.nextInt(3)).getBytes(StandardCharsets.UTF_8);
    }

    private void ask(ZnodeStore store, SessionMessages ear, int who) {
        String path = anyPath();
        switch (random.nextInt(11)) {
            case 0, 1 -> {
                say("S" + who + " creates under " + path);
                store.create(path + "/request-", anyData(), answer -> ear.created(path, answer));
            }
            case 2 -> {
                say("S" + who + " lists " + path);
                store.list(path, ear::listed);
            }
            case 3 -> {
                say("S" + who + " reads " + path);
                store.read(path, ear::read);
            }
            case 4 -> {
                say("S" + who + " watches the data of " + path);
                store.watchData(path, ear::read);
            }
            case 5 -> {
                say("S" + who + " watches the children of " + path);
                store.watchChildren(path, ear::listed);
            }
            case 6 -> {
                say("S" + who + " takes its watches back from " + path);
                store.removeWatches(path, () -> ear.hears("taken back"));
            }
            case 7 -> {
                List<String> paths = List.of(path, anyPath());
                say("S" + who + " lists " + paths);
                store.lists(paths, ear::allListed);
            }
            case 8 -> {
                List<String> paths = List.of(path, anyPath());
                say("S" + who + " asks for " + paths);
                store.exist(paths, answer -> ear.answer(answer, codes -> ear.hears("there " + codes)));
            }
            default -> {
                List<Write> writes = new ArrayList<>();
                for (int left = random.nextInt(1, 4); left > 0; left--) {
                    writes.add(anyWrite());
                }
                say("S" + who + " writes "
                        + writes.stream().map(RequestScript::text).toList());
                store.write(writes, answer -> ear.written(writes, answer));
            }
        }
    }

    private Write anyWrite() {
        String path = anyPath();
        return switch (random.nextInt(10)) {
            case 0, 1 -> new Write.CreatePath(PATHS.get(random.nextInt(PATHS.size())));
            case 2, 3 -> new Write.CreateRequest(path + "/request-", anyData());
            case 4 -> new Write.CreateNode(path + "/node-" + random.nextInt(2), anyData());
            case 5 -> new Write.Mark(path);
            case 6 -> new Write.SetData(path, anyData(), random.nextInt(-1, 3));
            case 7, 8 -> new Write.Delete(path);
            default -> new Write.Check(path);
        };
    }

    private static String text(Write write) {
        // The records' own text would name arrays by their hash codes.
        if (write instanceof Write.SetData set) {
            return "SetData " + set.path() + " at " + set.version();
        } else if (write instanceof Write.CreateRequest create) {
            return "CreateRequest " + create.path();
        } else if (write instanceof Write.CreateNode create) {
            return "CreateNode " + create.path();
        }
        return write.toString();
    }

    // ---- what comes back

    private void collect() {
        for (int who = 0; who < SESSIONS; who++) {
            for (Line line : heard.get(who).taken()) {
                lines.add(new Line("    S" + who + " " + line.text(), line.zxids()));
            }
            nodes.addAll(heard.get(who).takenNodes());
        }
    }

    private List<String> ranked() {
        TreeSet<Long> told = new TreeSet<>();
        lines.forEach(line -> told.addAll(line.zxids()));
        Map<Long, String> ranks = new TreeMap<>();
        // What is no zxid of a change: none told, and the root's.
        told.headSet(1L).forEach(none -> ranks.put(none, "zxid " + none));
        told.tailSet(1L).forEach(zxid -> ranks.put(zxid, "zxid #" + ranks.size()));
        return lines.stream()
                .map(line -> String.format(
                        line.text(), line.zxids().stream().map(ranks::get).toArray()))
                .toList();
    }

    /** All messages to one session. */
    private final class SessionMessages implements ZnodeStore.Listener {
        private final Clock clock = new SimulatedTime().view();
        private final List<Line> fresh = new ArrayList<>();
        /** Not yet chosen from: a server may answer one request of a burst before the next is drawn. */
        private final List<String> made = new ArrayList<>();

        synchronized void hears(String text, Long... zxids) {
            fresh.add(new Line(text, List.of(zxids)));
        }

        /** Returns the messages since the last call. ZooKeeper does not order the watch events after a reconnect. */
        synchronized List<Line> taken() {
            sortRuns(line -> line.zxids().equals(List.of(-1L)));
            List<Line> all = List.copyOf(fresh);
            fresh.clear();
            return all;
        }

        /** The end of a session is one transaction, in which ZooKeeper deletes the session's nodes in no order. */
        synchronized void sortEventsOfOneChange() {
            sortRuns(line -> line.zxids().size() == 1);
        }

        /** Puts lines that stand together and are alike but for their text into the order of the alphabet. */
        private void sortRuns(Predicate<Line> unordered) {
            int start = 0;
            for (int i = 0; i <= fresh.size(); i++) {
                boolean goesOn = i < fresh.size()
                        && unordered.test(fresh.get(i))
                        && fresh.get(i).zxids().equals(fresh.get(start).zxids());
                if (!goesOn) {
                    fresh.subList(start, i).sort(Comparator.comparing(Line::text));
                    start = i;
                }
            }
        }

        /** Whether the news of its own nodes reaches a session before its connection ends is chance. */
        synchronized void forgetWhatCameBefore(String text) {
            while (!fresh.isEmpty() && !fresh.get(0).text().equals(text)) {
                fresh.remove(0);
            }
        }

        void created(String parent, Response<ZnodeStore.CreatedNode> answer) {
            answer(answer, node -> {
                know(parent, node);
                hears("created " + node.name() + " %s", node.czxid());
            });
        }

        private synchronized void know(String parent, ZnodeStore.CreatedNode node) {
            made.add(parent + "/" + node.name());
        }

        synchronized List<String> takenNodes() {
            List<String> all = List.copyOf(made);
            made.clear();
            return all;
        }

        void listed(Response<ZnodeStore.Listing> answer) {
            answer(
                    answer,
                    list -> hears("children " + new TreeSet<>(withoutServers(list.children())) + " %s", list.mzxid()));
        }

        void allListed(Response<List<Response<ZnodeStore.Listing>>> answers) {
            answer(answers, lists -> lists.forEach(this::listed));
        }

        private static List<String> withoutServers(List<String> children) {
            return children.stream().filter(child -> !child.equals("zookeeper")).toList();
        }

        void read(Response<ZnodeStore.NodeData> answer) {
            answer(
                    answer,
                    node -> hears(
                            "data '" + new String(node.data(), StandardCharsets.UTF_8) + "' version " + node.version()
                                    + " created %s changed %s",
                            node.czxid(),
                            node.mzxid()));
        }

        void written(List<Write> writes, Response<ZnodeStore.TransactionResult> answer) {
            answer(answer, done -> {
                Optional<ZnodeStore.Refusal> refusal = done.failedAt();
                if (refusal.isPresent()) {
                    hears("refused at " + refusal.get().index() + ": "
                            + refusal.get().code());
                    return;
                }
                List<String> names = done.created().stream()
                        .map(ZnodeStore.CreatedNode::name)
                        .toList();
                writes.stream()
                        .filter(Write.CreateRequest.class::isInstance)
                        .map(write -> ((Write.CreateRequest) write).path())
                        .map(path -> path.substring(0, path.lastIndexOf('/')))
                        .forEach(parent -> done.created().stream()
                                .filter(node -> node.name().startsWith("request-"))
                                .forEach(node -> know(parent, node)));
                hears(
                        "written, created " + names
                                + done.created().stream().map(node -> " %s").collect(Collectors.joining()),
                        done.created().stream()
                                .map(ZnodeStore.CreatedNode::czxid)
                                .toArray(Long[]::new));
            });
        }

        private <T> void answer(Response<T> answer, Consumer<T> value) {
            if (answer.ok()) {
                value.accept(answer.get());
            } else {
                hears("failed: " + answer.code());
            }
        }

        @Override
        public ClockReading now() {
            return ClockReading.of(clock);
        }

        @Override
        public Clock.Timer after(Duration delay, Runnable task) {
            return clock.after(delay, task);
        }

        @Override
        public void connected(int timeoutMillis, Optional<ZnodeStore.Attempt> attempt) {
            hears("connected");
        }

        @Override
        public void disconnected() {
            hears("disconnected");
        }

        @Override
        public void expired() {
            hears("expired");
        }

        @Override
        public void loginRefused() {
            hears("login refused");
        }

        @Override
        public void failed(Throwable why) {
            throw new IllegalStateException("a delivery failed", why);
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            hears(change + " of " + path + " %s", zxid);
        }
    }
}

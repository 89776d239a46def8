// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes that this session owes the deletion of, for requests whose first member is at one path. A departure is over
 * for its owner at once when it cannot be sent, and stays owed until its nodes are gone or the session is. Departures
 * that come up while one is on the wire travel together when a neighbour of this session holds, since nobody else waits
 * for them then, or when many leave.
 *
 * <p>It is long because a refused transaction is understood only by what was put into it: which node, which mark, which check.
 */
public final class PendingDeletions {
    private static final Logger LOG = LoggerFactory.getLogger(PendingDeletions.class);
    /** How many bytes one transaction has at most, about, unless one request has more; half of what fits a packet. */
    private static final int BATCH = 500_000;
    /** A node counts as so many at least, which makes for 500 nodes. */
    private static final int NODE = 1_000;
    /** How many heirs one transaction checks at most, and how many bytes they have. */
    private static final int HEIRS = 500;

    private static final int HEIRS_BYTES = 250_000;
    /** How many bytes a character of a path has at most. */
    private static final int WIDEST = 3;
    /** How many transactions of one path may be on the wire; what comes then travels together in the next. */
    private static final int FLIGHTS = 4;

    private final Session session;
    private final PresentNodes nodes;
    private final List<Departure> owed = new ArrayList<>();
    /** What is on the wire; an answer may not come any more once the session is over. */
    private final Set<Departure> underWay = new LinkedHashSet<>();

    private int flights;
    /** The last transaction that was answered found a node missing. */
    private boolean missed;

    /** There is no connection: all owners have their answer, and the next connection sends all of it. */
    private boolean waitsForConnection;

    /** How a node is left. */
    private enum Manner {
        /** By an exclusive holder that let go: the mark proves to the next that everything before it is gone. */
        HANDED_OVER,
        /** By a holder that shares. */
        RELEASED,
        /** By anybody else. */
        WITHDRAWN,
        /** The ear beside a node: nobody listens any more. */
        EAR
    }

    /**
     * The node of a member that is left, and what may stand beside it or in its place.
     *
     * @param in the nodes of its session under its path
     * @param exclusive whether its owner held alone, if it held
     * @param replacement by what is on its way; of both either may be there
     * @param ear the node beside it by which its holder is asked to let go
     */
    public record Left(
            PresentNodes in,
            NodeName name,
            boolean exclusive,
            Optional<NodeName> replacement,
            Optional<NodeName> ear) {}

    /**
     * A node to be deleted.
     *
     * @param path its own
     */
    private record Leaving(PresentNodes lane, NodeName name, Manner manner, String path) {
        Leaving(PresentNodes lane, NodeName name, Manner manner) {
            this(lane, name, manner, lane.pathOf(manner == Manner.EAR ? name.ear() : name.text()));
        }

        /** Who of this session is granted by that already. */
        List<QueueMember> heirs() {
            return manner == Manner.HANDED_OVER ? lane.heirs(name) : List.of();
        }

        boolean wasHeld() {
            return manner == Manner.HANDED_OVER || manner == Manner.RELEASED;
        }

        void gone() {
            if (manner != Manner.EAR) {
                lane.gone(name);
            }
        }
    }

    /** The nodes of one request, which go together. */
    private static final class Departure {
        final List<Leaving> nodes = new ArrayList<>();
        /** Ears that were not there when the last transaction was carried out. */
        private final List<Leaving> absentEars = new ArrayList<>(0);

        private Consumer<ReleaseOutcome> then;
        /** A transaction with it went out and its answer was lost: the nodes may be gone by that. */
        boolean uncertain;
        /** A node that was held was gone already. */
        boolean robbed;
        /** The server has refused it, and the log says so. */
        boolean refused;

        Departure(Consumer<ReleaseOutcome> then) {
            this.then = then;
        }

        int bytes() {
            int bytes = 0;
            for (Leaving node : nodes) {
                bytes += Math.max(NODE, 2 * WIDEST * node.path().length() + 100);
            }
            return bytes;
        }

        /** The node was not there. */
        void absent(Leaving node) {
            nodes.remove(node);
            if (node.manner() == Manner.EAR) {
                absentEars.add(node);
            }
        }

        /** Before its barrier a lost create of an ear may have been carried out, beside the request's node. */
        void onNewConnection() {
            nodes.addAll(absentEars);
            absentEars.clear();
        }

        /** Tells its owner once. */
        void tell(ReleaseOutcome outcome) {
            Consumer<ReleaseOutcome> owner = then;
            then = ignored -> {};
            owner.accept(outcome);
        }
    }

    PendingDeletions(Session session, PresentNodes nodes) {
        this.session = session;
        this.nodes = nodes;
    }

    /**
     * Holders let go: who waits right behind them in this session is granted before the server hears of it.
     *
     * @param early whether that may be; else those are granted who wait, once the deletion is confirmed
     */
    public void release(List<Left> left, boolean early, Consumer<ReleaseOutcome> then) {
        Departure departure = new Departure(then);
        List<Runnable> grants = new ArrayList<>(0);
        for (Left node : left) {
            if (early && node.exclusive()) {
                node.in().letGo(node.name()).forEach(heir -> grants.add(() -> heir.released(node.name())));
            }
            Manner manner = node.exclusive() ? Manner.HANDED_OVER : Manner.RELEASED;
            departure.nodes.add(new Leaving(node.in(), node.name(), manner));
            addWhatGoesWith(node, departure);
        }
        owed.add(departure);
        try {
            grants.forEach(Runnable::run);
        } finally {
            send(departure);
        }
    }

    public void withdraw(List<Left> left, Consumer<ReleaseOutcome> then) {
        Departure departure = new Departure(then);
        for (Left node : left) {
            departure.nodes.add(new Leaving(node.in(), node.name(), Manner.WITHDRAWN));
            addWhatGoesWith(node, departure);
        }
        owed.add(departure);
        send(departure);
    }

    /** The ear beside a node of the own path that somebody else deleted. */
    void withdrawEar(NodeName ear) {
        depart(new Leaving(nodes, ear, Manner.EAR));
    }

    /** A node of the own path that nobody wants. */
    public void withdraw(NodeName name) {
        depart(new Leaving(nodes, name, Manner.WITHDRAWN));
    }

    /** One that nobody waits for. */
    private void depart(Leaving only) {
        Departure departure = new Departure(ignored -> {});
        departure.nodes.add(only);
        owed.add(departure);
        send(departure);
    }

    /** An ear goes with its node, in one transaction, so that it is never all that is left under a path. */
    private static void addWhatGoesWith(Left node, Departure departure) {
        node.replacement().ifPresent(name -> {
            departure.nodes.add(new Leaving(node.in(), name, Manner.WITHDRAWN));
            departure.uncertain = true;
        });
        node.ear().ifPresent(ear -> departure.nodes.add(new Leaving(node.in(), ear, Manner.EAR)));
    }

    public boolean owes() {
        return !underWay.isEmpty() || !owed.isEmpty();
    }

    /** Sends what is owed, with {@code added} as the last of it. */
    private void send(Departure added) {
        if (waitsForConnection) {
            added.tell(ReleaseOutcome.PENDING);
        } else {
            send();
        }
    }

    private void send() {
        if (owed.isEmpty() || waitsForConnection) {
            return;
        }
        if (!session.wire().connected()) {
            waitsForConnection = true;
            owed.forEach(departure -> departure.tell(ReleaseOutcome.PENDING));
            session.wire().whenConnected(() -> {
                waitsForConnection = false;
                owed.forEach(Departure::onNewConnection);
                send();
            });
            return;
        }
        if (flights >= FLIGHTS || (flights > 0 && nodes.holder().isPresent())) {
            return;
        }
        while (!owed.isEmpty()) {
            int count = 0;
            int bytes = 0;
            do {
                bytes += owed.get(count++).bytes();
            } while (count < owed.size() && bytes + owed.get(count).bytes() <= BATCH);
            List<Departure> first = owed.subList(0, count);
            List<Departure> batch = List.copyOf(first);
            first.clear();
            send(batch);
        }
    }

    /** A write of a transaction, and why it is in there. */
    private sealed interface Step {
        ZnodeStore.Write write();

        /** The path of the node that it is about. */
        String path();

        record Leave(Departure departure, Leaving node, ZnodeStore.Write write) implements Step {
            @Override
            public String path() {
                return node.path();
            }
        }

        record Check(SessionNode.Standing heir, ZnodeStore.Write write) implements Step {
            @Override
            public String path() {
                return heir.path();
            }
        }
    }

    /**
     * One transaction: a mark and a deletion for each. Neighbours that hold since their predecessor let go are checked
     * to be there: had somebody deleted the node of one, whoever is behind it would be next as well. Where that cannot be
     * checked, there is no mark. Nor is there one while an earlier holder's node is on its way out in another transaction,
     * which may be refused: the mark says that everything before it is gone (docs/protocol.md, "Hand-over and the release
     * mark").
     */
    private void send(List<Departure> batch) {
        Set<String> leaving = new HashSet<>();
        Set<PresentNodes> wholly = new HashSet<>();
        for (Departure departure : batch) {
            for (Leaving node : departure.nodes) {
                leaving.add(node.name().text());
                wholly.add(node.lane());
            }
        }
        wholly.removeIf(each -> !each.letsGoOfNoneBut(leaving));
        List<Step> steps = new ArrayList<>();
        List<Step> checks = new ArrayList<>();
        for (Departure departure : batch) {
            for (Leaving node : departure.nodes) {
                if (node.manner() == Manner.HANDED_OVER
                        && session.checks()
                        && checkHeirs(node, leaving, checks)
                        && wholly.contains(node.lane())
                        && session.marks()) {
                    steps.add(new Step.Leave(departure, node, new ZnodeStore.Write.Mark(node.path())));
                }
                steps.add(new Step.Leave(departure, node, new ZnodeStore.Write.Delete(node.path())));
            }
        }
        steps.addAll(checks);
        List<ZnodeStore.Write> writes = new ArrayList<>(steps.size());
        for (Step step : steps) {
            writes.add(step.write());
        }
        flights++;
        underWay.addAll(batch);
        session.wire().write(writes, answer -> {
            flights--;
            batch.forEach(underWay::remove);
            answered(batch, steps, answer);
        });
    }

    /** Adds a check for every heir of the node that is still there; says whether that is possible. */
    private static boolean checkHeirs(Leaving node, Set<String> leaving, List<Step> checks) {
        List<Step> more = new ArrayList<>();
        for (QueueMember heir : node.heirs()) {
            Optional<NodeName> name = heir.node();
            if (name.isPresent() && !leaving.contains(name.get().text())) {
                SessionNode.Standing standing = new SessionNode.Standing(heir, name.get());
                more.add(new Step.Check(standing, new ZnodeStore.Write.Check(standing.path())));
                if (heir.replacement().isPresent()) {
                    return false;
                }
            }
        }
        int most = Math.min(HEIRS, HEIRS_BYTES / (WIDEST * node.path().length()));
        if (checks.size() + more.size() > most) {
            return false;
        }
        checks.addAll(more);
        return true;
    }

    private void answered(List<Departure> batch, List<Step> steps, Response<ZnodeStore.Written> answer) {
        if (!answer.ok()) {
            batch.forEach(departure -> departure.uncertain = true);
            owed.addAll(0, batch);
            batch.forEach(departure -> departure.tell(ReleaseOutcome.PENDING));
            if (session.wire().connected()) {
                session.heartbeat().afterBeat(this::send);
            } else {
                send();
            }
            return;
        }
        Optional<ZnodeStore.Refusal> refusal = answer.get().failedAt();
        boolean missesAgain = missed;
        missed = refusal.filter(found -> found.code() == Status.NO_NODE).isPresent();
        if (refusal.isEmpty()) {
            for (Departure departure : batch) {
                departure.nodes.forEach(Leaving::gone);
                over(departure);
            }
            send();
        } else if (missed && missesAgain) {
            lookWhichAreGone(batch, steps);
        } else {
            owed.addAll(0, batch);
            refused(refusal.get(), steps.get(refusal.get().index()));
        }
    }

    /** A refusal names one node only. So when a second one is missing, one request asks for all nodes of the transaction. */
    private void lookWhichAreGone(List<Departure> batch, List<Step> steps) {
        List<Step> nodes = steps.stream()
                .filter(step -> !(step.write() instanceof ZnodeStore.Write.Mark))
                .toList();
        List<String> paths = nodes.stream().map(Step::path).toList();
        flights++;
        underWay.addAll(batch);
        session.wire().<List<Status>>ask(then -> session.wire().port().exist(paths, then), answer -> {
            flights--;
            batch.forEach(underWay::remove);
            missed = false;
            if (answer.ok()) {
                for (int i = 0; i < nodes.size(); i++) {
                    if (answer.get().get(i) == Status.NO_NODE) {
                        missing(nodes.get(i));
                    }
                }
            }
            List<Departure> left = new ArrayList<>(batch);
            left.removeIf(departure -> departure.nodes.isEmpty());
            owed.addAll(0, left);
            batch.stream().filter(departure -> departure.nodes.isEmpty()).forEach(PendingDeletions::over);
            send();
        });
    }

    /** The step's node is gone. */
    private static void missing(Step step) {
        if (step instanceof Step.Check check) {
            check.heir().gone();
        } else if (step instanceof Step.Leave leave) {
            Departure departure = leave.departure();
            departure.robbed |= !departure.uncertain && leave.node().wasHeld();
            departure.absent(leave.node());
            leave.node().gone();
        }
    }

    private void refused(ZnodeStore.Refusal refusal, Step step) {
        if (step instanceof Step.Check check) {
            if (refusal.code() == Status.NO_NODE) {
                missing(check);
            } else {
                session.stopChecking();
            }
            send();
        } else if (step instanceof Step.Leave leave) {
            refused(refusal, leave);
        }
    }

    private void refused(ZnodeStore.Refusal refusal, Step.Leave leave) {
        Departure departure = leave.departure();
        Leaving node = leave.node();
        if (refusal.code() == Status.NO_NODE) {
            missing(leave);
            endIfNothingIsLeft(departure);
            send();
        } else if (node.manner() == Manner.EAR) {
            // Made by another client in the ear's place, with children perhaps: it must not keep the request's node.
            LOG.warn(
                    "The server refuses to delete {} ({}), to which release requests are sent; it is left there.",
                    node.path(),
                    refusal.detail());
            departure.nodes.remove(node);
            endIfNothingIsLeft(departure);
            send();
        } else if (leave.write() instanceof ZnodeStore.Write.Mark
                || (refusal.code() == Status.NO_AUTH && session.marks())) {
            // No right to write, or a quota that holds even for what takes less room than before.
            session.stopMarking();
            send();
        } else {
            if (!departure.refused) {
                departure.refused = true;
                LOG.warn(
                        "The server refuses to delete {} ({}); others wait behind it until this session ends. Tried again"
                                + " with every heartbeat, and said once.",
                        node.path(),
                        refusal.detail());
            }
            departure.tell(ReleaseOutcome.PENDING);
            owed.remove(departure);
            underWay.add(departure);
            session.heartbeat().afterBeat(() -> {
                underWay.remove(departure);
                owed.add(departure);
                send();
            });
            send();
        }
    }

    private void endIfNothingIsLeft(Departure departure) {
        if (departure.nodes.isEmpty()) {
            owed.remove(departure);
            over(departure);
        }
    }

    private static void over(Departure departure) {
        departure.tell(departure.robbed ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED);
    }

    /** The session is over, and all its nodes with it, or soon. */
    void sessionOver(ReleaseOutcome told) {
        underWay.forEach(departure -> departure.tell(told));
        underWay.clear();
        owed.forEach(departure -> departure.tell(told));
        owed.clear();
    }
}

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
 * The pending deletions of this session's nodes, for requests whose first member has one path.
 *
 * <p>If a deletion cannot be sent, its owner gets PENDING at once, and the deletion is repeated until its nodes or the
 * session are gone. Deletions that arrive while another is pending are sent together in two cases: if a neighbour of
 * this session holds, since no other client waits for them then, or if there are many.
 *
 * <p>The class is long because a refused transaction is understood only from its contents: which node, which mark,
 * which check.
 */
public final class PendingDeletions {
    private static final Logger LOG = LoggerFactory.getLogger(PendingDeletions.class);
    /** The approximate maximum size of a transaction in bytes, half of a packet; one request alone may exceed it. */
    private static final int BATCH = 500_000;
    /** The minimum size of a node in this count, which allows 500 nodes. */
    private static final int NODE = 1_000;
    /** The maximum number of granted neighbours that one transaction checks; below, their maximum size in bytes. */
    private static final int HEIRS = 500;

    private static final int HEIRS_BYTES = 250_000;
    /** The maximum size of a character in bytes. */
    private static final int WIDEST = 3;
    /** The maximum number of pending transactions of one path; further deletions are sent together in the next. */
    private static final int FLIGHTS = 4;

    private final Session session;
    private final PresentNodes nodes;
    private final List<Departure> owed = new ArrayList<>();
    /** Deletions without a response, which may never arrive once the session has ended. */
    private final Set<Departure> underWay = new LinkedHashSet<>();

    private int flights;
    /** Whether the last response reported a missing node. */
    private boolean missed;

    /** Whether the next connection will send all deletions. Their owners have their outcome. */
    private boolean waitsForConnection;

    /** The reason for a deletion. */
    private enum Manner {
        /** Release by an exclusive holder: the mark proves to the successor that all requests ahead of it are gone. */
        HANDED_OVER,
        /** Release by a shared holder. */
        RELEASED,
        /** Withdrawal of a request that does not hold. */
        WITHDRAWN,
        /** The revocation node of a request, whose holder no longer listens. */
        EAR
    }

    /**
     * The node of a member to be deleted, and the nodes that may exist beside it or in its place.
     *
     * @param in the nodes of its session under its path
     * @param exclusive whether its lock is exclusive
     * @param replacement the node that replaces it in a pending transaction; either of the two may exist
     * @param ear its revocation node
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
     * @param path its own path
     */
    private record Leaving(PresentNodes lane, NodeName name, Manner manner, String path) {
        Leaving(PresentNodes lane, NodeName name, Manner manner) {
            this(lane, name, manner, lane.pathOf(manner == Manner.EAR ? name.ear() : name.text()));
        }

        /** Returns the members of this session that the release has granted. */
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

    /** The nodes of one request, which are deleted together. */
    private static final class Departure {
        final List<Leaving> nodes = new ArrayList<>();
        /** Revocation nodes that did not exist when the last transaction was applied. */
        private final List<Leaving> absentEars = new ArrayList<>(0);

        private Consumer<ReleaseOutcome> then;
        /** Whether the response to a deletion was lost, so that the nodes may be gone by that. */
        boolean uncertain;
        /** Whether a held node was already gone. */
        boolean robbed;
        /** Whether the server has refused it, which is logged once. */
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

        /** Handles a node that did not exist. */
        void absent(Leaving node) {
            nodes.remove(node);
            if (node.manner() == Manner.EAR) {
                absentEars.add(node);
            }
        }

        /**
         * Adds the missing revocation nodes again: before the barrier of a new connection their lost creates may be
         * applied.
         */
        void onNewConnection() {
            nodes.addAll(absentEars);
            absentEars.clear();
        }

        /** Completes the owner's call, once. */
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
     * Deletes the nodes of holders.
     *
     * @param early whether waiters of this session right behind them are granted now, before the server has processed
     *     the release, and not only when the deletion is confirmed
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

    /** Deletes the revocation node of a request on this path whose own node another client deleted. */
    void withdrawEar(NodeName ear) {
        depart(new Leaving(nodes, ear, Manner.EAR));
    }

    /** Deletes a node on this path that belongs to no request. */
    public void withdraw(NodeName name) {
        depart(new Leaving(nodes, name, Manner.WITHDRAWN));
    }

    /** Deletes a node without a caller that waits for the outcome. */
    private void depart(Leaving only) {
        Departure departure = new Departure(ignored -> {});
        departure.nodes.add(only);
        owed.add(departure);
        send(departure);
    }

    /**
     * Adds the revocation node and the replacement: one transaction deletes all, so that no revocation node is left
     * alone.
     */
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

    /** Sends the pending deletions, of which {@code added} is the last. */
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

    /** A write of a transaction and its reason. */
    private sealed interface Step {
        ZnodeStore.Write write();

        /** Returns the path of its node. */
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
     * Sends one transaction with a mark and a deletion for each node.
     *
     * <p>It also checks the neighbours that hold since their predecessor's release. If another client had deleted a
     * neighbour's node, the mark would grant the request behind that neighbour as well. So no mark is set where these
     * nodes cannot be checked, nor while another transaction, which may be refused, is deleting the node of an earlier
     * holder: the mark says that all requests ahead are gone (docs/protocol.md, "Hand-over and the release mark").
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

    /**
     * Adds a check for every existing node of a neighbour that this release grants, and returns whether all can be
     * checked.
     */
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

    /**
     * Asks for all nodes of the transaction in one request, as a refusal names only one and a second one is missing.
     */
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

    /** Handles a node that does not exist. */
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
            // Another client created a node of this name, perhaps with children. It must not keep the request's node
            // from being deleted.
            LOG.warn(
                    "The server refuses to delete the revocation node {} ({}). It is left there.",
                    node.path(),
                    refusal.detail());
            departure.nodes.remove(node);
            endIfNothingIsLeft(departure);
            send();
        } else if (leave.write() instanceof ZnodeStore.Write.Mark
                || (refusal.code() == Status.NO_AUTH && session.marks())) {
            // The client may not write, or a quota refuses even data that takes less room than before.
            session.stopMarking();
            send();
        } else {
            if (!departure.refused) {
                departure.refused = true;
                LOG.warn(
                        "The server refuses to delete {} ({}). Requests behind it wait until this session ends."
                                + " The deletion is retried with every heartbeat and logged only once.",
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

    /** Ends the deletions: the session has ended, and its nodes are gone or soon will be. */
    void sessionOver(ReleaseOutcome told) {
        underWay.forEach(departure -> departure.tell(told));
        underWay.clear();
        owed.forEach(departure -> departure.tell(told));
        owed.clear();
    }
}

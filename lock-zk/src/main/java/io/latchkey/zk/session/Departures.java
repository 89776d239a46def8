package io.latchkey.zk.session;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
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
 * The nodes of one path that this session owes the deletion of. A departure is over for its owner at once when it cannot
 * be sent, and stays owed until the node is gone or the session is. Departures that come up while one is on the wire
 * travel together when a neighbour of this session holds, since nobody else waits for them then, or when many leave.
 */
final class Departures {
    private static final Logger LOG = LoggerFactory.getLogger(Departures.class);
    /** How many nodes one transaction deletes at most; far below what fits a packet. */
    private static final int BATCH = 500;
    /** How many transactions of one path may be on the wire; what comes then travels together in the next. */
    private static final int FLIGHTS = 4;

    private final Session session;
    private final Lane lane;
    private final List<Departure> owed = new ArrayList<>();
    /** Names of holders that let go and whose nodes are not known to be gone: who is right behind them holds. */
    private final Set<String> released = new HashSet<>();

    /** What is on the wire; an answer may not come any more once the session is over. */
    private final Set<Departure> underWay = new LinkedHashSet<>();

    private int flights;

    /** How a node is left. */
    enum Manner {
        /** By a holder that let go: the mark proves to the next that everything before it is gone. */
        RELEASED,
        /** By anybody else; proves nothing. */
        WITHDRAWN
    }

    private static final class Departure {
        final String name;
        final Manner manner;
        private Consumer<ReleaseOutcome> then;
        /** A transaction with it went out and its answer was lost: the node may be gone by that. */
        boolean uncertain;

        Departure(String name, Manner manner, Consumer<ReleaseOutcome> then) {
            this.name = name;
            this.manner = manner;
            this.then = then;
        }

        /** Tells its owner once. */
        void tell(ReleaseOutcome outcome) {
            Consumer<ReleaseOutcome> owner = then;
            then = ignored -> {};
            owner.accept(outcome);
        }
    }

    Departures(Session session, Lane lane) {
        this.session = session;
        this.lane = lane;
    }

    void add(String name, Manner manner, Consumer<ReleaseOutcome> then) {
        owed.add(new Departure(name, manner, then));
        if (manner == Manner.RELEASED) {
            released.add(name);
        }
    }

    boolean handsOver(String name) {
        return released.contains(name);
    }

    boolean owes() {
        return !underWay.isEmpty() || !owed.isEmpty();
    }

    void send() {
        if (owed.isEmpty()) {
            return;
        }
        if (!session.connected()) {
            owed.forEach(departure -> departure.tell(ReleaseOutcome.PENDING));
            session.whenConnected(this::send);
            return;
        }
        Optional<Request> holder = lane.holder();
        if (flights >= FLIGHTS || (flights > 0 && holder.isPresent())) {
            return;
        }
        while (!owed.isEmpty()) {
            List<Departure> some = owed.subList(0, Math.min(BATCH, owed.size()));
            List<Departure> batch = List.copyOf(some);
            some.clear();
            send(batch, holder);
        }
    }

    /**
     * One transaction: a mark and a deletion for each. A neighbour that holds since its predecessor let go is checked to
     * be there: had somebody deleted its node, the one behind it could take the mark for its own turn.
     */
    private void send(List<Departure> batch, Optional<Request> holder) {
        List<ZooPort.Write> writes = new ArrayList<>(2 * batch.size() + 1);
        List<Departure> owners = new ArrayList<>(writes.size());
        boolean handsOver = false;
        for (Departure departure : batch) {
            if (departure.manner == Manner.RELEASED && session.marks()) {
                writes.add(new ZooPort.Write.Mark(lane.pathOf(departure.name)));
                owners.add(departure);
            }
            writes.add(new ZooPort.Write.Delete(lane.pathOf(departure.name)));
            owners.add(departure);
            handsOver |= departure.manner == Manner.RELEASED;
        }
        Optional<Request> checked = handsOver ? holder : Optional.empty();
        checked.flatMap(Request::node).ifPresent(node -> writes.add(new ZooPort.Write.Check(lane.pathOf(node.text()))));
        flights++;
        underWay.addAll(batch);
        session.write(writes, answer -> {
            flights--;
            batch.forEach(underWay::remove);
            answered(batch, owners, checked, answer);
        });
    }

    private void answered(
            List<Departure> batch, List<Departure> owners, Optional<Request> checked, Answer<ZooPort.Written> answer) {
        if (!answer.ok()) {
            batch.forEach(departure -> departure.uncertain = true);
            owed.addAll(0, batch);
            batch.forEach(departure -> departure.tell(ReleaseOutcome.PENDING));
            session.whenConnected(this::send);
            return;
        }
        Optional<ZooPort.Refusal> refusal = answer.get().failedAt();
        if (refusal.isEmpty()) {
            batch.forEach(departure -> gone(departure, ReleaseOutcome.RELEASED));
            send();
            return;
        }
        owed.addAll(0, batch);
        refused(refusal.get(), owners, checked);
    }

    private void refused(ZooPort.Refusal refusal, List<Departure> owners, Optional<Request> checked) {
        if (refusal.index() >= owners.size()) {
            checked.ifPresent(holder -> holder.ownNodeGone(LossCause.NODE_DELETED));
            send();
            return;
        }
        Departure departure = owners.get(refusal.index());
        if (refusal.code() == Code.NO_NODE) {
            owed.remove(departure);
            boolean byUs = departure.uncertain || departure.manner == Manner.WITHDRAWN;
            gone(departure, byUs ? ReleaseOutcome.RELEASED : ReleaseOutcome.LOST);
            send();
        } else if (refusal.code() == Code.NO_AUTH && session.marks()) {
            session.stopMarking();
            send();
        } else {
            LOG.warn(
                    "The server refuses to delete {} ({}); others wait behind it until this session ends. Tried again.",
                    lane.pathOf(departure.name),
                    refusal.detail());
            owed.forEach(owing -> owing.tell(ReleaseOutcome.PENDING));
            session.afterBeat(this::send);
        }
    }

    private void gone(Departure departure, ReleaseOutcome outcome) {
        released.remove(departure.name);
        lane.nodeGone(departure.name);
        departure.tell(outcome);
    }

    /** The session is over, and all its nodes with it, or soon. */
    void sessionOver(ReleaseOutcome told) {
        underWay.forEach(departure -> departure.tell(told));
        underWay.clear();
        owed.forEach(departure -> departure.tell(told));
        owed.clear();
    }
}

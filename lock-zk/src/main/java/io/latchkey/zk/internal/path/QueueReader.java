// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the queue of one path for the requests of one session, and knows the path's data: nothing is delivered before it
 * is known to agree with what they ask for, and a queue is only delivered with the capacity of its own moment, which the
 * list's mzxid tells.
 *
 * <p>Lists are shared. While one is on the wire, requests that enqueue wait for the next, which serves them all; nothing
 * is lost by that, since they stand behind the one whose list is on its way (docs/protocol.md, "Acquire").
 *
 * <p>It is long because a list counts only together with the path's data, the members that it serves and the lost creates that it
 * may show: none of these can be explained without the others.
 */
public final class QueueReader {
    /** What of a packet lists that are read together fill by their lengths of the last time, at most: one in so many parts. */
    private static final int PART_OF_PACKET = 4;
    /** What such a list has beside its names and its path's: the path's data, twice, with all that the server knows of it. */
    private static final int BESIDE_NAMES = 300;

    private final Session session;
    private final String path;
    private final PresentNodes nodes;
    private final PendingDeletions departures;
    private final Runnable onceIdle;
    /** Ids of lost creates whose nodes have not turned up and belong to no request: kept until the session ends. */
    private final Set<String> lost = new HashSet<>();
    /** Who has not asked for its place yet, since others of this session wait before it. */
    private final Map<QueueMember, Want> putOff = new LinkedHashMap<>();

    /** How many bytes the last list had. */
    private long lately = Integer.MAX_VALUE;

    /** The path's data is on its way, for all whose lists come behind it. */
    private boolean dataAskedFor;

    /** The next connection brings the list. */
    private boolean waitsForConnection;

    /** Without a connection the next one brings this again. A list that is on the wire was sent behind the barrier as well. */
    private final Runnable lookForLost = this::lookForLost;

    private List<Want> wants = new ArrayList<>();
    private boolean listing;
    /** Whether a list of this connection still has to tell whether a lost create was carried out. */
    private boolean unsought;

    private byte @Nullable [] data;
    /** What it says, where this version knows it. */
    private Optional<PathData> known = Optional.empty();

    private long dataSince;

    /** Since when a list may be read to count for a request. */
    private enum From {
        /** Behind its create. */
        CREATE,
        /** Behind a barrier on a new connection, after which a lost create has been carried out or is not going to be on it. */
        BARRIER
    }

    /** A place that wants to see its queue, in its request's present attempt. */
    private record Want(QueueMember place, String id, From from, boolean canWait) {
        Want(QueueMember place, From from) {
            this(place, place.attempt(), from, false);
        }

        /** It may do without an answer for now, as it is new and its request can. */
        static Want ofNew(QueueMember place) {
            return new Want(place, place.attempt(), From.CREATE, place.canBePutOff());
        }

        /** It needs one now. */
        Want due() {
            return new Want(place, id, from, false);
        }

        boolean stands() {
            State needed = from == From.BARRIER ? State.RECOVERING : State.QUEUED;
            return isAt(needed) && place.wantsList();
        }

        boolean isAmong(Set<String> children) {
            return stands()
                    && place.node()
                            .filter(name -> children.contains(name.text()))
                            .isPresent();
        }

        /** Whether it may come to want the list that is on its way: its create is on its way, too. */
        boolean mayCome() {
            return stands() || (from == From.CREATE && isAt(State.ENQUEUEING));
        }

        private boolean isAt(State state) {
            return place.attempt().equals(id) && place.state() == state;
        }
    }

    /**
     * @param onceIdle what to do when no lost create is left to be looked for
     */
    QueueReader(Session session, String path, PresentNodes nodes, PendingDeletions departures, Runnable onceIdle) {
        this.session = session;
        this.path = path;
        this.nodes = nodes;
        this.departures = departures;
        this.onceIdle = onceIdle;
    }

    boolean idle() {
        return wants.isEmpty() && putOff.isEmpty() && !listing && lost.isEmpty();
    }

    /** Whether nodes that belong to no request may stand there by now. */
    boolean owes() {
        return unsought;
    }

    /**
     * The path was made with this data at {@code zxid}. Every other node of this session that is known to be there was made
     * before that transaction, which found no path.
     */
    public void made(PathData made, long zxid) {
        tellWhoseNodeIsGone(Set.of());
        if (naming().isShared()) {
            return;
        }
        data = made.bytes();
        known = Optional.of(made);
        dataSince = zxid;
        lately = 1;
        session.context().learn(path, made);
    }

    /** The transaction that wrote the path's data as last seen, or 0. */
    public long writtenAt() {
        return dataSince;
    }

    /** What somebody has just seen in the path's data. */
    public void learn(ZnodeStore.NodeData seen) {
        if (naming().isShared()) {
            return;
        }
        boolean news = dataSince != seen.mzxid();
        data = seen.data();
        known = PathData.parse(seen.data());
        dataSince = seen.mzxid();
        known.ifPresent(says -> session.context().learn(path, says));
        if (news) {
            // The path's capacity may have changed, and with it what all of them wait for.
            List.copyOf(nodes.members()).forEach(QueueMember::lookAgain);
        }
    }

    void forget() {
        data = null;
    }

    /** In the flight of a create that has just been sent: at first contact the path's data, and the queue. */
    private void readBehindCreateOf(QueueMember place) {
        if (data == null && !naming().isShared() && !dataAskedFor) {
            dataAskedFor = true;
            readData(ignored -> dataAskedFor = false);
        }
        listNowOrLater(place);
    }

    /**
     * Reads the queues behind the creates of several places of one request, which have just been sent: with one request, if
     * no path's data is asked for as well, no list is on its way that others wait for, and a packet takes all of them.
     */
    public static void readBehindCreatesOf(Map<QueueMember, QueueReader> places, Session session) {
        boolean together = places.size() > 1;
        long bytes = 0;
        for (QueueReader reader : places.values()) {
            together = together && reader.mayReadWithOthers();
            bytes += reader.lately + 3L * reader.path.length() + BESIDE_NAMES;
        }
        if (!together || bytes > session.wire().port().longestAnswer() / PART_OF_PACKET) {
            places.forEach((place, reader) -> reader.readBehindCreateOf(place));
            return;
        }
        List<Consumer<Response<ZnodeStore.Listing>>> readings = new ArrayList<>(places.size());
        List<String> paths = new ArrayList<>(places.size());
        places.forEach((place, reader) -> {
            readings.add(reader.reading(new ArrayList<>(List.of(new Want(place, From.CREATE)))));
            paths.add(reader.path);
        });
        session.wire()
                .<List<Response<ZnodeStore.Listing>>>ask(
                        then -> session.wire().port().lists(paths, then), answer -> {
                            for (int i = 0; i < readings.size(); i++) {
                                Response<ZnodeStore.Listing> one = answer.ok()
                                        ? answer.get().get(i)
                                        : Response.failed(answer.code(), answer.detail());
                                session.lists().answered(paths.get(i), one);
                                readings.get(i).accept(one);
                            }
                        });
    }

    private boolean mayReadWithOthers() {
        return !listing && !session.lists().wasLost(path) && (data != null || naming().isShared());
    }

    private void readData(Consumer<Response<ZnodeStore.NodeData>> then) {
        session.wire().<ZnodeStore.NodeData>ask(done -> session.wire().port().read(path, done), answer -> {
            if (answer.ok()) {
                learn(answer.get());
            }
            then.accept(answer);
        });
    }

    /**
     * An operator made the path by hand: it becomes ours with the first use, if nobody was faster. Where others than
     * Latchkey's clients stand it is theirs, and stays as it is.
     */
    private void adopt(List<Want> served, ZnodeStore.Listing listing, int version) {
        PathData asked = served.get(0).place().purpose();
        Optional<OtherUse> otherUse = Queue.of(listing.children(), asked).otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            fail(served, Errors.mismatch(session.context().shown(path), asked, otherUse.get()));
            return;
        }
        session.wire().write(List.of(new ZnodeStore.Write.SetData(path, asked.bytes(), version)), answer -> {
            Status code = Wire.codeOf(answer);
            if (code == Status.NO_AUTH || code == Status.OTHER) {
                fail(
                        served,
                        Errors.denied(
                                session.context().shown(path), "record the kind of the lock", Wire.plain(answer)));
            }
        });
        // In the same flight: what it says now, and a queue of that moment.
        readData(ignored -> {});
        listAgain(served);
    }

    public void list(QueueMember place) {
        want(new Want(place, From.CREATE));
    }

    /** For a place whose create has just been sent: those that are present stand before it. */
    private void listNowOrLater(QueueMember place) {
        Want want = Want.ofNew(place);
        boolean sameKind = naming().isShared()
                || (data != null && known.filter(place.purpose()::agreesWith).isPresent());
        if (sameKind && canBePutOff(want)) {
            putOff.put(place, want);
        } else {
            want(want);
        }
    }

    private boolean canBePutOff(Want want) {
        return want.canWait() && othersWaitBefore(Optional.of(want.place()));
    }

    /**
     * Whether two requests of this session wait before {@code one} and before the first that was put off, which then need
     * not know its place yet: it cannot be granted before they are, and there is time for a list when the first of them is,
     * which serves all that were put off. Nodes are present in the order in which they were created; what comes later
     * stands behind.
     */
    private boolean othersWaitBefore(Optional<QueueMember> one) {
        int waiting = 0;
        for (QueueMember place : nodes.waiting()) {
            if (putOff.containsKey(place) || one.filter(place::equals).isPresent()) {
                return false;
            }
            if (place.isWaiting() && ++waiting == 2) {
                return true;
            }
        }
        return false;
    }

    /** Something became of a request of this lane: those put off may be needed now. */
    public void reconsider() {
        if (!putOff.isEmpty() && !othersWaitBefore(Optional.empty())) {
            List<Want> due = List.copyOf(putOff.values());
            putOff.clear();
            due.forEach(want -> wants.add(want.due()));
            sendListUnlessOneIs();
        }
    }

    /** Its request is over. */
    void forget(QueueMember place) {
        putOff.remove(place);
    }

    /** Behind a barrier, as every list is that is asked for on a new connection. */
    public void listForLostCreate(QueueMember place) {
        want(new Want(place, From.BARRIER));
    }

    private void want(Want want) {
        wants.add(want);
        sendListUnlessOneIs();
    }

    private void sendList() {
        if (!session.wire().connected()) {
            if (!waitsForConnection) {
                waitsForConnection = true;
                session.wire().whenConnected(() -> {
                    waitsForConnection = false;
                    sendListUnlessOneIs();
                });
            }
            return;
        }
        List<Want> served = wants;
        wants = new ArrayList<>();
        if (isWanted(served)) {
            session.lists().ask(path, () -> isWanted(served), reading(served));
        }
    }

    private boolean isWanted(List<Want> served) {
        served.removeIf(want -> !want.mayCome());
        return !served.isEmpty() || unsought;
    }

    private void sendListUnlessOneIs() {
        if (!wants.isEmpty() && !listing) {
            sendList();
        }
    }

    /** A list is on its way: what is to be done with its answer. */
    private Consumer<Response<ZnodeStore.Listing>> reading(List<Want> served) {
        listing = true;
        return answer -> {
            listing = false;
            listed(served, answer);
            wants.removeIf(want -> !want.mayCome());
            sendListUnlessOneIs();
        };
    }

    private void listed(List<Want> served, Response<ZnodeStore.Listing> answer) {
        switch (answer.code()) {
            case OK -> {
                lately = bytes(answer.get().children());
                removeLost(answer.get().children());
                tellWhoseNodeIsGone(served, answer.get().children());
                withData(served, answer.get());
            }
            case NO_NODE -> {
                data = null;
                removeLost(List.of());
                deliver(served, Queue.of(List.of()));
            }
            case NO_AUTH -> {
                fail(served, Errors.denied(session.context().shown(path), "read the queue", answer));
                lookForLostLater();
            }
            case CONNECTION_LOSS, READ_ONLY -> listAgain(served);
            case TOO_LONG -> {
                fail(served, Errors.tooLong(session.context().shown(path), answer));
                if (!session.lists().isUnreadable(path)) {
                    lookForLostLater();
                }
            }
            default -> {
                fail(served, Errors.refused(session.context().shown(path), answer));
                lookForLostLater();
            }
        }
    }

    /**
     * Every node of this session that is known to be there by now was made before the list was asked for, so one that is not
     * in it is gone: somebody deleted it, if another is in it, with which the session lived. Its owner must hear of that
     * before whoever asked: both may wait for the same node of this session, whose holder is to let go.
     */
    private void tellWhoseNodeIsGone(List<Want> served, List<String> children) {
        if (nodes.members().size() > 1) {
            Set<String> there = new HashSet<>(children);
            if (served.stream().anyMatch(want -> want.isAmong(there))) {
                tellWhoseNodeIsGone(there);
            }
        }
    }

    /** Of the nodes whose owners hold or wait these alone are there. */
    private void tellWhoseNodeIsGone(Set<String> there) {
        nodes.missingFrom(there).forEach((name, place) -> {
            place.nodeGone(name);
            // Should it be there after all, it must not stay without an owner.
            departures.withdraw(name);
        });
    }

    private static long bytes(List<String> children) {
        long bytes = 0;
        for (String child : children) {
            bytes += Integer.BYTES + child.length();
        }
        return bytes;
    }

    /** Delivers the queue once the data of its moment is known. */
    private void withData(List<Want> served, ZnodeStore.Listing listing) {
        // Whose create is not answered by now has not created before this list.
        served.removeIf(want -> !want.stands());
        if (served.isEmpty()) {
            // The list was for lost creates, or no request needs it now. The log counts for holders all the same.
            nodes.members().stream()
                    .findFirst()
                    .flatMap(place -> Queue.of(listing.children(), place.purpose(), naming())
                            .otherUse())
                    .ifPresent(use -> session.context().usedOtherwise(path, use));
            return;
        }
        if (isOfItsMoment(listing)) {
            deliver(served, listing);
            return;
        }
        readData(answer -> {
            if (isOfItsMoment(listing)) {
                deliver(served, listing);
            } else if (answer.ok() && answer.get().data().length == 0) {
                adopt(served, listing, answer.get().version());
            } else if (answer.code() == Status.NO_AUTH || answer.code() == Status.OTHER) {
                fail(served, Errors.refused(session.context().shown(path), answer));
            } else {
                session.wire().whenConnected(() -> listAgain(served));
            }
        });
    }

    private boolean isOfItsMoment(ZnodeStore.Listing listing) {
        return naming().isShared() || (data != null && data.length > 0 && dataSince == listing.mzxid());
    }

    private void deliver(List<Want> served, ZnodeStore.Listing listing) {
        if (naming().isShared()) {
            deliverWithoutData(served, listing);
            return;
        }
        byte[] found = Objects.requireNonNull(data);
        List<Want> agreeing = new ArrayList<>(served.size());
        for (Want want : served) {
            PathData asked = want.place().purpose();
            if (known.filter(asked::agreesWith).isPresent()) {
                agreeing.add(want);
            } else {
                fail(List.of(want), Errors.mismatch(session.context().shown(path), asked, found));
            }
        }
        deliver(agreeing, Queue.of(listing.children(), known.orElse(PathData.MUTEX)));
    }

    /** The path is its users' own and says nothing; what is asked for has to do, unless a child tells otherwise. */
    private void deliverWithoutData(List<Want> served, ZnodeStore.Listing listing) {
        Map<PathData, List<Want>> byPurpose = new LinkedHashMap<>();
        for (Want want : served) {
            byPurpose
                    .computeIfAbsent(want.place().purpose(), asked -> new ArrayList<>())
                    .add(want);
        }
        byPurpose.forEach((asked, wants) -> deliver(wants, Queue.of(listing.children(), asked, naming())));
    }

    private void listAgain(List<Want> served) {
        for (Want want : served) {
            if (want.stands()) {
                want(want);
            }
        }
    }

    private void deliver(List<Want> served, Queue queue) {
        Optional<OtherUse> otherUse = queue.otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            String shown = session.context().shown(path);
            fail(served, Errors.mismatch(shown, queue.purpose(), otherUse.get()));
            return;
        }
        for (Want want : served) {
            if (want.stands() && canBePutOff(want)) {
                // Many came at once: it has seen its place, and needs no watch yet.
                putOff.put(want.place(), want);
            } else if (want.stands()) {
                want.place().listed(queue);
            }
        }
    }

    private static void fail(List<Want> served, LockException error) {
        for (Want want : served) {
            if (want.stands()) {
                want.place().fail(error);
            }
        }
    }

    /** The create with this id was lost and its request is over. */
    public void disown(String id) {
        remember(id);
        lookForLost();
    }

    /** The create with this id was lost and its request has another. */
    public void remember(String id) {
        lost.add(id);
        session.lookOnEveryConnection(lookForLost);
    }

    private void lookForLost() {
        unsought = true;
        lookIfConnected();
    }

    private void lookIfConnected() {
        if (unsought && session.wire().connected() && !listing) {
            sendList();
        }
    }

    private void lookForLostLater() {
        if (unsought) {
            session.heartbeat().afterBeat(this::lookIfConnected);
        }
    }

    /** An id is in no other request's name, and a create is carried out once: what is shown is deleted and forgotten. */
    private void removeLost(List<String> children) {
        if (lost.isEmpty()) {
            return;
        }
        List<NodeName> found = children.stream()
                .flatMap(child -> naming().parse(child).stream())
                .filter(name -> lost.contains(name.id()))
                .toList();
        for (NodeName name : found) {
            lost.remove(name.id());
            departures.withdraw(name);
        }
        if (session.wire().connected()) {
            unsought = false;
        }
        if (lost.isEmpty()) {
            session.lookNoMore(lookForLost);
            onceIdle.run();
        }
    }

    private Naming naming() {
        return session.context().naming();
    }
}

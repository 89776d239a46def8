// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Lists;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The reader of one path's queue and data for the requests of one session. It delivers a queue only if the path's data
 * agrees with what the requests ask for, and only with the capacity at the time of the list, which the list's mzxid
 * shows.
 *
 * <p>Lists are shared. While one is pending, further requests wait for the next, which serves them all. That loses no
 * time, since these requests are behind the one whose list is pending (docs/protocol.md, "Acquire").
 *
 * <p>The class is long because a list counts only together with the path's data, the members that it serves and the
 * lost creates that it may show: none of these can be explained without the others.
 */
public final class QueueReader implements Session.LostCreates {
    /** The bytes of such a list without names and path: the path's data, twice, with its Stat. */
    private static final int BESIDE_NAMES = 300;
    /** More bytes than a child takes in a list, if it is of a client. */
    private static final int LONG_ENTRY = 64;

    private final Session session;
    private final LockPath path;
    private final PresentNodes nodes;
    private final PendingDeletions deletions;
    private final Runnable onceIdle;
    /**
     * Lost creates that belong to no request and whose nodes were not found, by id, with the server that they were sent
     * to if that is known. Each is kept until a list behind a barrier of that server does not show it.
     */
    private final Map<String, Optional<String>> lost = new LinkedHashMap<>(0);
    /** Members whose list is deferred because others of this session wait ahead of them. */
    private final Map<QueueMember, Want> deferred = new LinkedHashMap<>();

    /** The size of the last list in bytes. */
    private long lastListBytes = Lists.UNKNOWN_LENGTH;

    /** Whether a read of the path's data is pending, for all members whose lists follow it. */
    private boolean dataAskedFor;

    /** Whether the kind is being written to a path that an operator created; the server may throttle that for long. */
    private boolean adopting;

    private final List<Want> afterAdoption = new ArrayList<>(0);

    /** Whether a list is already scheduled for the next connection. */
    private boolean waitsForConnection;

    /** The connection on which the last list was answered. */
    private int listedOn;

    /** The request that a try which does not wait has last found blocked; null if the last one found its way free. */
    private @Nullable Demand blocked;

    private List<Want> wants = new ArrayList<>();
    private boolean listing;
    /** Whether a list of this connection still has to show whether a lost create was applied. */
    private boolean lostUnchecked;

    private byte @Nullable [] data;
    /** The parsed data, if this version knows its format. */
    private Optional<PathData> known = Optional.empty();

    private long dataSince;

    /** How much a request asks for. */
    private record Demand(Tag tag, int permits) {
        /** Returns whether what blocks {@code other} blocks this as well. */
        boolean isAtLeast(Demand other) {
            boolean sameSide = tag == other.tag || tag == Tag.WRITE;
            return sameSide && permits >= other.permits;
        }
    }

    /** The point behind which a list must be sent to count for a request. */
    private enum From {
        /** Behind its create. */
        CREATE,
        /**
         * Behind the barrier on a new connection: a lost create was applied by then, or will not be on that connection.
         */
        BARRIER
    }

    /** A member that needs a list, in its request's current attempt. */
    private record Want(QueueMember member, String id, From from, boolean canWait) {
        Want(QueueMember member, From from) {
            this(member, member.attempt(), from, false);
        }

        /** Returns a request for a list that may be deferred, as the member is new. */
        static Want ofNew(QueueMember member) {
            return new Want(member, member.attempt(), From.CREATE, member.canBeDeferred());
        }

        /** Returns this request as one that is no longer deferred. */
        Want due() {
            return new Want(member, id, from, false);
        }

        boolean isCurrent() {
            State needed = from == From.BARRIER ? State.RECOVERING : State.QUEUED;
            return isAt(needed) && member.wantsList();
        }

        boolean isAmong(Set<String> children) {
            return isCurrent()
                    && member.node()
                            .filter(name -> children.contains(name.text()))
                            .isPresent();
        }

        /** Returns whether it may still need the pending list: its create may be pending, too. */
        boolean mayBecomeWanted() {
            return isCurrent() || (from == From.CREATE && isAt(State.ENQUEUEING));
        }

        private boolean isAt(State state) {
            return member.attempt().equals(id) && member.state() == state;
        }
    }

    /**
     * @param onceIdle runs when no lost create has to be looked for any more
     */
    QueueReader(Session session, LockPath path, PresentNodes nodes, PendingDeletions deletions, Runnable onceIdle) {
        this.session = session;
        this.path = path;
        this.nodes = nodes;
        this.deletions = deletions;
        this.onceIdle = onceIdle;
    }

    /** Returns whether lost creates still have to be looked for. A pending list without a member serves nothing. */
    boolean hasLostCreates() {
        return !lost.isEmpty();
    }

    /** Returns whether nodes may exist that belong to no request. */
    boolean hasPendingDeletions() {
        return lostUnchecked;
    }

    /**
     * Notes that the path was created with this data at {@code zxid}. All other nodes of this session that were known
     * to exist are gone: they were created before that transaction, which found no path.
     */
    public void made(PathData made, long zxid) {
        reportMissing(Set.of());
        if (naming().isShared()) {
            return;
        }
        data = made.bytes();
        known = Optional.of(made);
        dataSince = zxid;
        lastListBytes = 1;
        session.context().learn(path, made);
    }

    /** Returns the transaction that wrote the path's data as last read; 0 if none is known. */
    public long writtenAt() {
        return dataSince;
    }

    /** Takes the path's data as just read. */
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
            // The path's capacity may have changed, and with it what all members wait for.
            List.copyOf(nodes.members()).forEach(QueueMember::lookAgain);
        }
    }

    void forget() {
        data = null;
    }

    /** Reads the path's data at first contact, and the queue, in the flight of a create that has just been sent. */
    private void readBehindCreateOf(QueueMember member) {
        if (data == null && !naming().isShared() && !dataAskedFor) {
            dataAskedFor = true;
            readData(ignored -> dataAskedFor = false);
        }
        listOrDefer(member);
    }

    /**
     * Reads the queues behind the creates of all members of one request, which have just been sent. One request reads
     * them together if no other list is pending, none was lost before, and one packet takes all of them. At first
     * contact their sizes are unknown, and each path's data is read as well.
     */
    public static void readBehindCreatesOf(Map<QueueMember, QueueReader> members, Session session) {
        if (!mayReadTogether(members.values(), session)) {
            members.forEach((member, reader) -> reader.readBehindCreateOf(member));
            return;
        }
        List<Consumer<Response<ZnodeStore.Listing>>> readings = new ArrayList<>(members.size());
        List<String> paths = new ArrayList<>(members.size());
        members.forEach((member, reader) -> {
            readings.add(reader.reading(new ArrayList<>(List.of(new Want(member, From.CREATE)))));
            paths.add(reader.path.node());
        });
        session.lists().askTogether(paths, answers -> {
            for (int i = 0; i < readings.size(); i++) {
                readings.get(i).accept(answers.get(i));
            }
        });
    }

    /** Returns whether one request may read all these queues. */
    private static boolean mayReadTogether(Collection<QueueReader> readers, Session session) {
        boolean together = readers.size() > 1;
        long bytes = 0;
        for (QueueReader reader : readers) {
            together = together && reader.mayReadWithOthers();
            bytes += reader.lastListBytes + 3L * reader.path.node().length() + BESIDE_NAMES;
        }
        return together && session.lists().isShort(bytes);
    }

    /**
     * Reads the queues for a look, behind a {@code sync} in the same flight. They are not shared with other requests.
     *
     * @param wanted returns whether the answers are still needed
     * @param then takes a response for each, in their order
     */
    public static void look(
            List<QueueReader> readers,
            Session session,
            BooleanSupplier wanted,
            Consumer<List<Response<ZnodeStore.Listing>>> then) {
        List<String> paths = readers.stream().map(reader -> reader.path.node()).toList();
        session.connection().<String>ask(done -> session.connection().store().sync(paths.get(0), done), synced -> {});
        if (mayReadTogether(readers, session)) {
            session.lists().askTogether(paths, then);
            return;
        }
        List<Response<ZnodeStore.Listing>> answers = new ArrayList<>(paths.size());
        for (String path : paths) {
            session.lists().ask(path, wanted, answer -> {
                answers.add(answer);
                if (answers.size() == paths.size()) {
                    then.accept(answers);
                }
            });
        }
    }

    /**
     * Returns the queue of the path with one more child; empty if the path's data at the time of the list is not known,
     * or says that the path is for another lock.
     */
    public Optional<Queue> queueWith(String child, ZnodeStore.Listing listing, PathData asked) {
        lastListBytes = bytes(listing.children());
        List<String> children = new ArrayList<>(listing.children());
        children.add(child);
        if (naming().isShared()) {
            return Optional.of(Queue.of(children, asked, naming()));
        }
        return matchesData(listing)
                ? known.filter(asked::agreesWith).map(purpose -> Queue.of(children, purpose))
                : Optional.empty();
    }

    /** Notes whether a request that asks for so much was found blocked. */
    public void found(boolean isBlocked, Tag tag, int permits) {
        blocked = isBlocked ? new Demand(tag, permits) : null;
    }

    /** Returns whether a request that asks for as much or less was blocked when a try last looked. */
    public boolean seemsBlocked(Tag tag, int permits) {
        return blocked != null && new Demand(tag, permits).isAtLeast(blocked);
    }

    private boolean mayReadWithOthers() {
        return !listing && !session.lists().wasLost(path.node());
    }

    private void readData(Consumer<Response<ZnodeStore.NodeData>> then) {
        session.connection()
                .<ZnodeStore.NodeData>ask(done -> session.connection().store().read(path.node(), done), answer -> {
                    if (answer.ok()) {
                        learn(answer.get());
                    }
                    then.accept(answer);
                });
    }

    /**
     * Adopts a path that an operator created: writes the kind of the lock, unless another client has. A path with
     * requests of another layout stays as it is.
     */
    private void adopt(List<Want> served, ZnodeStore.Listing listing, int version) {
        PathData asked = served.get(0).member().purpose();
        Optional<OtherUse> otherUse = Queue.of(listing.children(), asked).otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            fail(served, Errors.mismatch(path.shown(), asked, otherUse.get()));
            return;
        }
        adopting = true;
        session.connection()
                .write(List.of(new ZnodeStore.Write.SetData(path.node(), asked.bytes(), version)), answer -> {
                    adopting = false;
                    List<Want> waiting = List.copyOf(afterAdoption);
                    afterAdoption.clear();
                    listAgain(waiting);
                    Status code = Connection.codeOf(answer);
                    if (code == Status.NO_AUTH || code.isOther()) {
                        fail(
                                served,
                                Errors.denied(path.shown(), "record the kind of the lock", Connection.plain(answer)));
                    }
                });
        // In the same flight: the data as it is now, and a list of the same time.
        readData(ignored -> {});
        listAgain(served);
    }

    public void list(QueueMember member) {
        want(new Want(member, From.CREATE));
    }

    /** Requests a list for a member whose create has just been sent, or defers it: present members are ahead of it. */
    private void listOrDefer(QueueMember member) {
        Want want = Want.ofNew(member);
        boolean sameKind = naming().isShared()
                || (data != null && known.filter(member.purpose()::agreesWith).isPresent());
        if (sameKind && canBeDeferred(want)) {
            deferred.put(member, want);
        } else {
            want(want);
        }
    }

    private boolean canBeDeferred(Want want) {
        return want.canWait() && othersWaitAhead(Optional.of(want.member()));
    }

    /**
     * Returns whether two requests of this session wait ahead of {@code one} and of the first deferred member. Then the
     * deferred members need no list yet: they cannot be granted before these two. When the first of the two is granted,
     * there is time for a list, which serves all deferred members. Nodes are in the order of their creation; later ones
     * are behind.
     */
    private boolean othersWaitAhead(Optional<QueueMember> one) {
        int waiting = 0;
        for (QueueMember member : nodes.waiting()) {
            if (deferred.containsKey(member) || one.filter(member::equals).isPresent()) {
                return false;
            }
            if (member.isWaiting() && ++waiting == 2) {
                return true;
            }
        }
        return false;
    }

    /** Requests the deferred lists if they are needed now, after a request of this queue has changed. */
    public void reconsider() {
        if (!deferred.isEmpty() && !othersWaitAhead(Optional.empty())) {
            List<Want> due = List.copyOf(deferred.values());
            deferred.clear();
            due.forEach(want -> wants.add(want.due()));
            sendListUnlessOneIs();
        }
    }

    /** Removes a member whose request has ended. */
    void forget(QueueMember member) {
        deferred.remove(member);
    }

    /** Requests a list that may show a lost create. On a new connection every list is behind the barrier. */
    public void listForLostCreate(QueueMember member) {
        want(new Want(member, From.BARRIER));
    }

    private void want(Want want) {
        wants.add(want);
        sendListUnlessOneIs();
    }

    private void sendList() {
        if (!session.connection().connected()) {
            if (!waitsForConnection) {
                waitsForConnection = true;
                session.connection().whenConnected(() -> {
                    waitsForConnection = false;
                    sendListUnlessOneIs();
                });
            }
            return;
        }
        List<Want> served = wants;
        wants = new ArrayList<>();
        if (isWanted(served)) {
            session.lists().ask(path.node(), bytesAtMost(served), () -> isWanted(served), reading(served));
        }
    }

    /**
     * Returns the length that the next list seems to have at most: that of the last one, or what the number of a
     * member's node says. The path had no more children than that when the node was created.
     */
    private long bytesAtMost(List<Want> served) {
        long bytes = lastListBytes;
        for (Want want : served) {
            bytes = Math.min(
                    bytes,
                    want.member()
                            .node()
                            .filter(name -> !name.overflowed())
                            .map(name -> LONG_ENTRY * (name.sequence() + 1L))
                            .orElse(bytes));
        }
        return bytes;
    }

    private boolean isWanted(List<Want> served) {
        served.removeIf(want -> !want.mayBecomeWanted());
        return !served.isEmpty() || lostUnchecked;
    }

    private void sendListUnlessOneIs() {
        if (!wants.isEmpty() && !listing) {
            sendList();
        }
    }

    /** Notes a pending list, and returns the handler of its response. */
    private Consumer<Response<ZnodeStore.Listing>> reading(List<Want> served) {
        listing = true;
        return answer -> {
            listing = false;
            listed(served, answer);
            sendListUnlessOneIs();
        };
    }

    private void listed(List<Want> served, Response<ZnodeStore.Listing> answer) {
        switch (answer.code()) {
            case OK -> {
                lastListBytes = bytes(answer.get().children());
                removeLost(answer.get().children());
                reportMissing(served, answer.get().children());
                withData(served, answer.get());
            }
            case NO_NODE -> {
                data = null;
                removeLost(List.of());
                deliver(served, Queue.of(List.of()));
            }
            case NO_AUTH -> {
                fail(served, Errors.denied(path.shown(), "read the queue", answer));
                lookForLostLater();
            }
            case CONNECTION_LOSS, READ_ONLY -> listAgain(served);
            case TOO_LONG -> {
                fail(served, Errors.tooLong(path.shown(), answer));
                if (!session.lists().isUnreadable(path.node())) {
                    lookForLostLater();
                }
            }
            default -> {
                fail(served, Errors.refused(path.shown(), answer));
                lookForLostLater();
            }
        }
    }

    /**
     * Notifies the owners of nodes that the list does not show.
     *
     * <p>All known nodes of this session were created before the list was requested. If the list shows one of them, the
     * session was alive, so a missing one was deleted by another client. Its owner is notified before the requesters of
     * the list: both may wait for the same node of this session, whose holder is about to release.
     */
    private void reportMissing(List<Want> served, List<String> children) {
        if (nodes.members().size() > 1) {
            Set<String> there = new HashSet<>(children);
            if (served.stream().anyMatch(want -> want.isAmong(there))) {
                reportMissing(there);
            }
        }
    }

    /** Notifies the holders and waiters whose nodes are not among {@code there}. */
    private void reportMissing(Set<String> there) {
        nodes.missingFrom(there).forEach((name, member) -> member.nodeGone(name));
    }

    private static long bytes(List<String> children) {
        long bytes = 0;
        for (String child : children) {
            bytes += Integer.BYTES + child.length();
        }
        return bytes;
    }

    /** Delivers the queue once the path's data at the time of the list is known. */
    private void withData(List<Want> served, ZnodeStore.Listing listing) {
        // ZooKeeper answers in order, so a create without a response was not applied before this list.
        served.removeIf(want -> !want.isCurrent());
        if (served.isEmpty()) {
            // The list was for lost creates, or no request needs it any more. Another layout is still logged, for
            // holders.
            nodes.members().stream()
                    .findFirst()
                    .flatMap(member -> Queue.of(listing.children(), member.purpose(), naming())
                            .otherUse())
                    .ifPresent(use -> session.context().usedOtherwise(path, use));
            return;
        }
        if (matchesData(listing)) {
            deliver(served, listing);
            return;
        }
        readData(answer -> {
            if (matchesData(listing)) {
                deliver(served, listing);
            } else if (answer.ok() && answer.get().data().length == 0 && adopting) {
                afterAdoption.addAll(served);
            } else if (answer.ok() && answer.get().data().length == 0) {
                adopt(served, listing, answer.get().version());
            } else if (answer.code() == Status.NO_AUTH || answer.code().isOther()) {
                fail(served, Errors.refused(path.shown(), answer));
            } else {
                session.connection().whenConnected(() -> listAgain(served));
            }
        });
    }

    private boolean matchesData(ZnodeStore.Listing listing) {
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
            PathData asked = want.member().purpose();
            if (known.filter(asked::agreesWith).isPresent()) {
                agreeing.add(want);
            } else {
                fail(List.of(want), Errors.mismatch(path.shown(), asked, found));
            }
        }
        deliver(agreeing, Queue.of(listing.children(), known.orElse(PathData.MUTEX)));
    }

    /**
     * Delivers a list of a path in a shared layout, whose data says nothing about the lock. The requested kind counts
     * unless a child shows another.
     */
    private void deliverWithoutData(List<Want> served, ZnodeStore.Listing listing) {
        Map<PathData, List<Want>> byPurpose = new LinkedHashMap<>();
        for (Want want : served) {
            byPurpose
                    .computeIfAbsent(want.member().purpose(), asked -> new ArrayList<>())
                    .add(want);
        }
        byPurpose.forEach((asked, wants) -> deliver(wants, Queue.of(listing.children(), asked, naming())));
    }

    private void listAgain(List<Want> served) {
        wants.addAll(served);
        sendListUnlessOneIs();
    }

    private void deliver(List<Want> served, Queue queue) {
        Optional<OtherUse> otherUse = queue.otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            String displayPath = path.shown();
            fail(served, Errors.mismatch(displayPath, queue.purpose(), otherUse.get()));
            return;
        }
        for (Want want : served) {
            if (want.isCurrent() && canBeDeferred(want)) {
                // Many requests came at once: this one has seen its place and needs no watch yet.
                deferred.put(want.member(), want);
            } else if (want.isCurrent()) {
                want.member().listed(queue);
            }
        }
    }

    private static void fail(List<Want> served, LockException error) {
        for (Want want : served) {
            if (want.isCurrent()) {
                want.member().fail(error);
            }
        }
    }

    /** Takes over a lost create whose request has ended: its node is looked for and deleted. */
    public void discard(String id, Optional<String> server) {
        keep(id, server);
        look();
    }

    /**
     * Takes over a lost create whose request continues with another id, as a list behind a barrier has not shown it.
     */
    public void remember(String id, Optional<String> server) {
        boolean listedHere = listedOn == session.connection().number();
        if (!listedHere || !isHere(server)) {
            keep(id, server);
        }
    }

    private void keep(String id, Optional<String> server) {
        lost.put(id, server);
        session.remember(id, this);
    }

    /**
     * Returns whether this is the server that the present connection is to, with its barrier committed. It had all that
     * the session had sent to it, ahead of the barrier. No other server had that (docs/protocol.md, "Lost answers").
     */
    private boolean isHere(Optional<String> server) {
        return session.connection().connected()
                && server.isPresent()
                && server.equals(session.connection().server());
    }

    /** Lists the path on a new connection. A pending list is behind the barrier as well and serves this. */
    @Override
    public void look() {
        lostUnchecked = true;
        lookIfConnected();
    }

    @Override
    public void forget(String id) {
        lost.remove(id);
    }

    private void lookIfConnected() {
        if (lostUnchecked && session.connection().connected() && !listing) {
            sendList();
        }
    }

    private void lookForLostLater() {
        if (lostUnchecked) {
            session.heartbeat().afterBeat(this::lookIfConnected);
        }
    }

    /**
     * Deletes the nodes of lost creates that the list shows. An id is in no other request's name and a create is
     * applied only once, so the id is then forgotten. So is one that the list does not show if its create was sent to
     * this server: it was applied before the barrier, or never will be.
     */
    private void removeLost(List<String> children) {
        if (session.connection().connected()) {
            listedOn = session.connection().number();
        }
        if (lost.isEmpty()) {
            return;
        }
        List<NodeName> found = children.stream()
                .flatMap(child -> naming().parse(child).stream())
                .filter(name -> lost.containsKey(name.id()))
                .toList();
        for (NodeName name : found) {
            settled(name.id());
            deletions.withdraw(name);
        }
        List<String> settled = lost.entrySet().stream()
                .filter(each -> isHere(each.getValue()))
                .map(Map.Entry::getKey)
                .toList();
        settled.forEach(this::settled);
        if (session.connection().connected()) {
            lostUnchecked = false;
        }
        if (lost.isEmpty()) {
            onceIdle.run();
        }
    }

    private void settled(String id) {
        lost.remove(id);
        session.stopLooking(id, this);
    }

    void sessionOver() {
        wants.clear();
        deferred.clear();
        afterAdoption.clear();
    }

    private Naming naming() {
        return session.context().naming();
    }
}

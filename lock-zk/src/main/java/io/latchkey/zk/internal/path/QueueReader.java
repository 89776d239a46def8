// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.ClockReading;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The reader of one path's queue and data for the requests of one session. It delivers a queue only if the path's data
 * agrees with what the requests ask for, and only with the capacity at the time of the list, which the list's mzxid
 * shows.
 *
 * <p>Lists are shared. While one is pending, further requests wait for the next, which serves them all. That loses no
 * time, since these requests are behind the one whose list is pending (docs/protocol.md, "Acquire").
 */
public final class QueueReader {
    private static final Errors.Purpose READ = Errors.Purpose.toSee("read the queue");
    /** The bytes of such a list without names and path: the path's data, twice, with its Stat. */
    private static final int BESIDE_NAMES = 300;

    private final Session session;
    private final LockPath path;
    private final PresentNodes nodes;
    private final PathContent content;
    private final PathAdoption adoption;
    private final LostCreateSearch lostCreates;
    private final DeferredLists deferred;

    private final ListLength length = new ListLength();

    /** Whether a read of the path's data is pending, for all members whose lists follow it. */
    private boolean dataAskedFor;

    /** Whether a list is already scheduled for the next connection. */
    private boolean waitsForConnection;

    private List<ListRequest> needed = new ArrayList<>();
    private boolean listing;

    /**
     * @param onceIdle runs when no lost create has to be looked for any more
     */
    QueueReader(
            Session session,
            LockPath path,
            PathContent content,
            PresentNodes nodes,
            PendingDeletions deletions,
            Runnable onceIdle) {
        this.session = session;
        this.path = path;
        this.nodes = nodes;
        this.deferred = new DeferredLists(nodes);
        this.content = content;
        this.adoption = new PathAdoption(session, path);
        this.lostCreates = new LostCreateSearch(session, deletions, this::sendListUnlessPending, onceIdle);
    }

    LostCreateSearch lostCreates() {
        return lostCreates;
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
        content.made(made, zxid);
        length.ofNewPath();
    }

    /** Reads the path's data at first contact, and the queue, in the flight of a create that has just been sent. */
    void readBehindCreateOf(QueueMember member) {
        if (content.isUnread() && !naming().isShared() && !dataAskedFor) {
            dataAskedFor = true;
            content.read(ignored -> dataAskedFor = false);
        }
        listOrDefer(member);
    }

    /**
     * Returns the queue of the path with one more child; empty if the path's data at the time of the list is not known,
     * or says that the path is for another lock.
     */
    public Optional<Queue> queueWith(String child, ZnodeStore.Listing listing, PathData asked) {
        length.listed(listing.children());
        List<String> children = new ArrayList<>(listing.children());
        children.add(child);
        if (naming().isShared()) {
            return Optional.of(Queue.of(children, asked, naming()));
        }
        return matchesData(listing)
                ? content.agreeingWith(asked).map(purpose -> Queue.of(children, purpose))
                : Optional.empty();
    }

    LockPath path() {
        return path;
    }

    /** Returns the bytes that a list, the data and their Stat seem to take in a packet. */
    long bytesOfAll() {
        return length.bytes() + 3L * path.node().length() + BESIDE_NAMES;
    }

    boolean mayReadWithOthers() {
        return !listing && !session.lists().wasLost(path.node());
    }

    /**
     * Adopts a path that an operator created: writes the kind of the lock, unless another client has. A path with
     * requests of another layout stays as it is.
     */
    private void adopt(List<ListRequest> served, ZnodeStore.Listing listing, int version) {
        PathData asked = served.get(0).member().purpose();
        Optional<OtherUse> otherUse = Queue.of(listing.children(), asked).otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            fail(served, Errors.mismatch(path.shown(), asked, otherUse.get()));
            return;
        }
        adoption.write(asked, version, this::listAgain, error -> fail(served, error));
        // In the same flight: the data as it is now, and a list of the same time.
        content.read(ignored -> {});
        listAgain(served);
    }

    public void list(QueueMember member) {
        request(new ListRequest(member, ListRequest.From.CREATE));
    }

    /** Requests a list for a member whose create has just been sent, or defers it: present members are ahead of it. */
    private void listOrDefer(QueueMember member) {
        ListRequest request = ListRequest.ofNew(member);
        boolean sameKind = naming().isShared()
                || (!content.isUnread()
                        && content.agreeingWith(member.purpose()).isPresent());
        if (!sameKind || !deferred.defer(request)) {
            request(request);
        }
    }

    /** Returns whether the member's list is deferred, because others of this session wait ahead of it. */
    public boolean isDeferred(QueueMember member) {
        return deferred.isDeferred(member);
    }

    /** Requests the deferred lists if they are needed now, after a request of this queue has changed. */
    public void reconsider() {
        List<ListRequest> due = deferred.takeDue();
        if (!due.isEmpty()) {
            listAgain(due);
        }
    }

    /** Removes a member whose request has ended. */
    void forget(QueueMember member) {
        deferred.forget(member);
    }

    /** Requests a list that may show a lost create. On a new connection every list is behind the barrier. */
    public void listForLostCreate(QueueMember member) {
        request(new ListRequest(member, ListRequest.From.BARRIER));
    }

    private void request(ListRequest request) {
        needed.add(request);
        sendListIfWanted();
    }

    private void sendList() {
        if (!session.connection().connected()) {
            if (!waitsForConnection) {
                waitsForConnection = true;
                session.connection().whenConnected(() -> {
                    waitsForConnection = false;
                    sendListIfWanted();
                });
            }
            return;
        }
        List<ListRequest> served = needed;
        needed = new ArrayList<>();
        if (isWanted(served)) {
            session.lists().ask(path.node(), length.atMost(served), () -> isWanted(served), () -> {}, reading(served));
        }
    }

    private boolean isWanted(List<ListRequest> served) {
        served.removeIf(request -> !request.mayBecomeCurrent());
        return !served.isEmpty() || lostCreates.needsList();
    }

    private void sendListIfWanted() {
        if (!needed.isEmpty()) {
            sendListUnlessPending();
        }
    }

    private void sendListUnlessPending() {
        if (!listing) {
            sendList();
        }
    }

    /** Notes a pending list for a new member, and returns the handler of its response. */
    Consumer<Response<ZnodeStore.Listing>> reading(QueueMember member) {
        return reading(new ArrayList<>(List.of(new ListRequest(member, ListRequest.From.CREATE))));
    }

    private Consumer<Response<ZnodeStore.Listing>> reading(List<ListRequest> served) {
        listing = true;
        return answer -> {
            listing = false;
            listed(served, answer);
            sendListIfWanted();
        };
    }

    private void listed(List<ListRequest> served, Response<ZnodeStore.Listing> answer) {
        switch (answer.code()) {
            case OK -> {
                length.listed(answer.get().children());
                lostCreates.listed(answer.get().children());
                reportMissing(served, answer.get().children());
                withData(served, answer.get());
            }
            case NO_NODE -> {
                content.forget();
                lostCreates.listed(List.of());
                deliver(served, Queue.of(List.of()));
            }
            case CONNECTION_LOSS, READ_ONLY -> {
                listAgain(served);
                // A list that was throttled before may end so on the next connection, which has counted on it.
                lostCreates.lookIfConnected();
            }
            default -> {
                fail(served, Errors.of(path.shown(), READ, answer));
                if (!session.lists().isUnreadable(path.node())) {
                    lostCreates.lookLater();
                }
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
    private void reportMissing(List<ListRequest> served, List<String> children) {
        if (nodes.members().size() > 1) {
            Set<String> there = new HashSet<>(children);
            if (served.stream().anyMatch(request -> request.isAmong(there))) {
                reportMissing(there);
            }
        }
    }

    /** Notifies the holders and waiters whose nodes are not among {@code there}. */
    private void reportMissing(Set<String> there) {
        nodes.missingFrom(there).forEach((name, member) -> member.nodeGone(name));
    }

    /** Delivers the queue once the path's data at the time of the list is known. */
    private void withData(List<ListRequest> served, ZnodeStore.Listing listing) {
        // ZooKeeper answers in order, so a create without a response was not applied before this list.
        served.removeIf(request -> !request.isCurrent());
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
        ClockReading listed = session.context().now();
        content.read(answer -> {
            if (matchesData(listing) && session.isJustNow(listed)) {
                deliver(served, listing);
            } else if (matchesData(listing)) {
                listAgain(served); // a node may be gone since then, and its place be that of others
            } else if (answer.ok() && answer.get().data().length == 0) {
                if (!adoption.await(served)) {
                    adopt(served, listing, answer.get().version());
                }
            } else if (answer.code().isServerError()) {
                fail(served, Errors.of(path.shown(), READ, answer));
            } else {
                session.connection().whenConnected(() -> listAgain(served));
            }
        });
    }

    private boolean matchesData(ZnodeStore.Listing listing) {
        return naming().isShared() || content.isOf(listing);
    }

    private void deliver(List<ListRequest> served, ZnodeStore.Listing listing) {
        if (naming().isShared()) {
            deliverWithoutData(served, listing);
            return;
        }
        List<ListRequest> agreeing = new ArrayList<>(served.size());
        for (ListRequest request : served) {
            PathData asked = request.member().purpose();
            if (content.agreeingWith(asked).isPresent()) {
                agreeing.add(request);
            } else {
                fail(List.of(request), Errors.mismatch(path.shown(), asked, content.bytes()));
            }
        }
        deliver(agreeing, Queue.of(listing.children(), content.known().orElse(PathData.MUTEX)));
    }

    /**
     * Delivers a list of a path in a shared layout, whose data says nothing about the lock. The requested kind counts
     * unless a child shows another.
     */
    private void deliverWithoutData(List<ListRequest> served, ZnodeStore.Listing listing) {
        Map<PathData, List<ListRequest>> byPurpose = served.stream()
                .collect(Collectors.groupingBy(
                        request -> request.member().purpose(), LinkedHashMap::new, Collectors.toList()));
        byPurpose.forEach((asked, requests) -> deliver(requests, Queue.of(listing.children(), asked, naming())));
    }

    private void listAgain(List<ListRequest> served) {
        needed.addAll(served);
        sendListIfWanted();
    }

    private void deliver(List<ListRequest> served, Queue queue) {
        Optional<OtherUse> otherUse = queue.otherUse();
        if (otherUse.isPresent()) {
            session.context().usedOtherwise(path, otherUse.get());
            fail(served, Errors.mismatch(path.shown(), queue.purpose(), otherUse.get()));
            return;
        }
        for (ListRequest request : served) {
            // If many requests came at once, this one has seen its place and needs no watch yet.
            if (request.isCurrent() && deferred.defer(request)) {
                request.member().listDeferred();
            } else if (request.isCurrent()) {
                request.member().listed(queue);
            }
        }
    }

    private static void fail(List<ListRequest> served, LockException error) {
        for (ListRequest request : served) {
            if (request.isCurrent()) {
                request.member().fail(error);
            }
        }
    }

    void sessionOver() {
        needed.clear();
        deferred.clear();
        adoption.clear();
    }

    private Naming naming() {
        return session.context().naming();
    }
}

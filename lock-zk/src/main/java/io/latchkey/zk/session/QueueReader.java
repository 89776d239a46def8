package io.latchkey.zk.session;

import io.latchkey.lock.LockException;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.Kind;
import io.latchkey.zk.queue.Queue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the queue of one path for the requests of one session, and knows the path's kind: nothing is delivered before
 * the kind is known to be theirs, and it is read anew when the path's data has changed since.
 *
 * <p>Lists are shared. While one is on the wire, requests that enqueue wait for the next, which serves them all; nothing
 * is lost by that, since they stand behind the one whose list is on its way.
 */
final class QueueReader {
    private final Session session;
    private final Lane lane;
    private final String path;
    /** Ids of requests that were given up when nobody knew whether their nodes were there. */
    private final Set<String> disowned = new HashSet<>();
    /** Who has not asked for its place yet, since others of this session wait before it. */
    private final Map<Request, Want> putOff = new LinkedHashMap<>();

    private List<Want> wants = new ArrayList<>();
    private boolean listing;
    /** Ids to be disowned once connected. */
    private int disowning;

    private byte @Nullable [] kind;
    private long kindSince;

    /** Since when a list may be read to count for a request. */
    private enum From {
        /** Behind its create. */
        CREATE,
        /** Behind a barrier on a new connection, after which a lost create has been carried out or never will be. */
        BARRIER
    }

    /** A request that wants to see a queue, in its present attempt. */
    private record Want(Request request, String id, From from) {
        boolean stands() {
            State needed = from == From.BARRIER ? State.RECOVERING : State.LISTING;
            return request.id().equals(id) && request.state() == needed;
        }

        /** Whether it may come to want the list that is on its way: its create is on its way, too. */
        boolean mayCome() {
            boolean onItsWay = request.id().equals(id) && request.state() == State.ENQUEUEING;
            return stands() || (from == From.CREATE && onItsWay);
        }
    }

    QueueReader(Session session, Lane lane, String path) {
        this.session = session;
        this.lane = lane;
        this.path = path;
    }

    boolean idle() {
        return wants.isEmpty() && putOff.isEmpty() && !listing;
    }

    /** Whether nodes may turn up that nobody wants. */
    boolean owes() {
        return disowning > 0 || !disowned.isEmpty();
    }

    /** The path was made with this kind at {@code zxid}. */
    void made(Kind asked, long zxid) {
        kind = asked.data();
        kindSince = zxid;
    }

    void forgetKind() {
        kind = null;
    }

    /** In the flight of a create that has just been sent: at first contact the kind, and the queue. */
    void readBehindCreateOf(Request request) {
        if (kind == null) {
            readKind(request.recipe().kind());
        }
        listNowOrLater(request);
    }

    private void readKind(Kind asked) {
        session.<ZooPort.NodeData>ask(then -> session.port().read(path, then), answer -> {
            if (answer.ok()) {
                kind = answer.get().data();
                kindSince = answer.get().mzxid();
                if (kind.length == 0) {
                    adopt(asked, answer.get().version());
                }
            }
        });
    }

    /** An operator made the path by hand: it becomes ours with the first use, if nobody was faster. */
    private void adopt(Kind asked, int version) {
        session.write(List.of(new ZooPort.Write.SetData(path, asked.data(), version)), answer -> {
            if (session.codeOf(answer) == Code.NO_AUTH) {
                LockException denied = Errors.denied(
                        session.engine().shown(path), "record the kind of the lock", session.plain(answer));
                List.copyOf(lane.present()).forEach(request -> request.fail(denied));
            }
            kind = null;
        });
    }

    void list(Request request) {
        want(new Want(request, request.id(), From.CREATE));
    }

    /** For a request whose create has just been sent: those that are present stand before it. */
    private void listNowOrLater(Request request) {
        Want want = new Want(request, request.id(), From.CREATE);
        if (request.canBePutOff() && othersWaitBefore()) {
            putOff.put(request, want);
        } else {
            want(want);
        }
    }

    /**
     * Whether two requests of this session wait already, so that a later one need not know its place yet: it cannot be
     * granted before the first of them is, and there is time for a list when it is, which serves all that were put off.
     */
    private boolean othersWaitBefore() {
        return lane.present().stream()
                        .filter(other -> other.isWaiting() && !putOff.containsKey(other))
                        .limit(2)
                        .count()
                == 2;
    }

    /** Something became of a request of this lane: those put off may be needed now. */
    void reconsider() {
        if (!putOff.isEmpty() && !othersWaitBefore()) {
            List<Want> due = List.copyOf(putOff.values());
            putOff.clear();
            due.forEach(wants::add);
            if (!listing) {
                sendList();
            }
        }
    }

    /** To be called behind a barrier. */
    void listForLostCreate(Request request) {
        want(new Want(request, request.id(), From.BARRIER));
    }

    private void want(Want want) {
        wants.add(want);
        if (!listing) {
            sendList();
        }
    }

    private void sendList() {
        List<Want> served = wants;
        wants = new ArrayList<>();
        served.removeIf(want -> !want.mayCome());
        listing = true;
        session.<ZooPort.Listing>ask(then -> session.port().list(path, then), answer -> {
            listing = false;
            listed(served, answer);
            wants.removeIf(want -> !want.mayCome());
            putOff.values().removeIf(want -> !want.mayCome());
            if (!wants.isEmpty() && !listing) {
                sendList();
            }
        });
    }

    private void listed(List<Want> served, Answer<ZooPort.Listing> answer) {
        switch (answer.code()) {
            case OK -> listed(served, answer.get());
            case NO_NODE -> {
                kind = null;
                Queue empty = Queue.of(List.of());
                removeDisowned(empty);
                deliver(served, empty);
            }
            case NO_AUTH -> fail(served, Errors.denied(session.engine().shown(path), "read the queue", answer));
            case CONNECTION_LOSS, READ_ONLY ->
                session.whenConnected(() -> {
                    listAgain(served);
                    lookForDisowned();
                });
            default -> fail(served, Errors.refused(session.engine().shown(path), answer));
        }
    }

    private void listed(List<Want> served, ZooPort.Listing listing) {
        Queue queue = Queue.of(listing.children());
        removeDisowned(queue);
        if (kind == null || kind.length == 0 || kindSince != listing.mzxid()) {
            if (served.isEmpty()) {
                return;
            }
            kind = null;
            readKind(served.get(0).request().recipe().kind());
            listAgain(served);
            return;
        }
        List<Want> ofThisKind = new ArrayList<>(served.size());
        for (Want want : served) {
            if (want.request().recipe().kind().isIn(kind)) {
                ofThisKind.add(want);
            } else {
                fail(
                        List.of(want),
                        Errors.mismatch(
                                session.engine().shown(path),
                                want.request().recipe().kind(),
                                kind));
            }
        }
        deliver(ofThisKind, queue);
    }

    private void listAgain(List<Want> served) {
        for (Want want : served) {
            if (want.stands()) {
                want(want);
            }
        }
    }

    private static void deliver(List<Want> served, Queue queue) {
        for (Want want : served) {
            if (want.stands()) {
                want.request().on(new Event.Listed(queue));
            }
        }
    }

    private static void fail(List<Want> served, LockException error) {
        for (Want want : served) {
            if (want.stands()) {
                want.request().fail(error);
            }
        }
    }

    void disown(String id) {
        disowning++;
        session.whenConnected(() -> {
            disowning--;
            disowned.add(id);
            lookForDisowned();
        });
    }

    /** A list that is on the wire was sent behind the barrier as well, or its answer would have come before it. */
    private void lookForDisowned() {
        if (!disowned.isEmpty() && !listing) {
            sendList();
        }
    }

    /** They were disowned behind a barrier: one that is not in the queue now never will be. */
    private void removeDisowned(Queue queue) {
        for (String id : disowned) {
            queue.withId(id).ifPresent(name -> lane.withdraw(name, ignored -> {}));
        }
        disowned.clear();
    }
}

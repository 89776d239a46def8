// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The nodes of one session that transactions check: those that are there for certain, but for the holders' nodes that watches look
 * after. The set is kept as nodes come and go, so a heartbeat costs what it checks.
 *
 * <p>A transaction that fails names one node only. The rest of its part is then asked for by one read. A read may lag behind the
 * leader, but it comes behind the failed transaction on the same connection, or in a later connection of the same session. A server
 * answers neither before it has applied all that the session has seen, each node's creation included. So what the read does not find
 * was deleted, and what was deleted before the transaction failed is not found.
 */
public final class NodeChecks {
    /**
     * How many nodes one part of a heartbeat checks. A server keeps the last 500 transactions on its heap, and a check
     * takes five times its bytes there.
     */
    private static final int PART = 500;
    /** About how many bytes it has at most, a quarter of what fits a packet: paths may be long. */
    private static final int PART_BYTES = 250_000;
    /** What a check has beside its path. */
    private static final int CHECK = 20;
    /** While watches tell of one deletion after the other, these are looked into together, no more often than this. */
    private static final Duration COLLECTED = Duration.ofMillis(100);

    private final Wire wire;
    private final Set<SessionNode> places = new LinkedHashSet<>();
    /** Those whose watches tell that their nodes are gone. */
    private final Deque<SessionNode> told = new ArrayDeque<>();

    private final RestartableTimer collected;
    private boolean asking;

    NodeChecks(ClientContext context, Wire wire) {
        this.wire = wire;
        this.collected = new RestartableTimer(context, this::checkTold);
    }

    boolean isEmpty() {
        return places.isEmpty();
    }

    /** The place's node has come or gone, or a watch looks after it from now on, or does so no more. */
    public void update(SessionNode place) {
        if (place.node().isPresent() && !place.isLeftToWatch()) {
            places.add(place);
        } else {
            places.remove(place);
        }
    }

    /** All places with nodes to be checked, to be taken from by {@link #part}. */
    Deque<SessionNode> all() {
        return new ArrayDeque<>(places);
    }

    /** Takes the next nodes that fit one transaction. */
    List<SessionNode.Standing> part(Deque<SessionNode> left) {
        List<SessionNode.Standing> part = new ArrayList<>(Math.min(PART, left.size()));
        int bytes = 0;
        while (!left.isEmpty() && part.size() < PART) {
            SessionNode place = left.element();
            Optional<NodeName> name = place.node();
            if (places.contains(place) && name.filter(place::isAt).isPresent()) {
                SessionNode.Standing standing = new SessionNode.Standing(place, name.get());
                bytes += CHECK + standing.path().length();
                if (!part.isEmpty() && bytes > PART_BYTES) {
                    break;
                }
                part.add(standing);
            }
            left.remove();
        }
        return part;
    }

    /**
     * Checks these nodes, and tells the owners of all that are gone.
     *
     * @param then gets an answer that is OK only if each node was seen, or its owner was notified that it is gone
     */
    void check(List<SessionNode.Standing> part, Consumer<Response<ZnodeStore.Written>> then) {
        wire.write(SessionNode.Standing.checks(part), answer -> {
            if (answer.ok() && answer.get().failedAt().isPresent()) {
                failed(part, answer, then);
            } else {
                then.accept(answer);
            }
        });
    }

    private void failed(
            List<SessionNode.Standing> part,
            Response<ZnodeStore.Written> failed,
            Consumer<Response<ZnodeStore.Written>> then) {
        ZnodeStore.Refusal refusal = failed.get().failedAt().orElseThrow();
        if (refusal.code() == Status.NO_NODE) {
            part.get(refusal.index()).gone();
        }
        // A server looks for a node before it looks for rights: the one that is refused for another reason was seen.
        List<SessionNode.Standing> others = part.stream()
                .filter(SessionNode.Standing::stands)
                .filter(each -> !each.equals(part.get(refusal.index())))
                .toList();
        if (others.isEmpty()) {
            then.accept(failed);
            return;
        }
        List<String> paths = others.stream().map(SessionNode.Standing::path).toList();
        // Without an answer the next heartbeat fails as this one did.
        wire.<List<Status>>ask(done -> wire.port().exist(paths, done), answer -> {
            for (int i = 0; answer.ok() && i < others.size(); i++) {
                if (answer.get().get(i) == Status.NO_NODE && others.get(i).stands()) {
                    others.get(i).gone();
                }
            }
            then.accept(answer.ok() ? failed : Response.failed(answer.code(), answer.detail()));
        });
    }

    /**
     * A watch tells that a holder's node is gone. It may have gone with the session, of which the server tells later: a committed
     * transaction knows. One is sent at once; what is told until a moment after its answer goes into the next.
     */
    public void told(SessionNode gone) {
        told.add(gone);
        if (!asking && !collected.isSet()) {
            checkTold();
        }
    }

    private void checkTold() {
        if (told.isEmpty()) {
            return;
        }
        asking = true;
        wire.whenConnected(() -> {
            List<SessionNode.Standing> part = part(told);
            Duration pause = told.isEmpty() ? COLLECTED : Duration.ZERO;
            if (part.isEmpty()) {
                asking = false;
                return;
            }
            check(part, answer -> {
                asking = false;
                collected.set(pause);
            });
        });
    }

    void end() {
        collected.cancel();
        places.clear();
        told.clear();
    }
}

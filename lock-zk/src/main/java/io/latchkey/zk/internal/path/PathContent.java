// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The data of one path as a session has last read or written it. In a layout that is shared with other libraries it
 * says nothing about the lock, and is not looked at.
 */
public final class PathContent {
    private final Session session;
    private final LockPath path;
    private final PresentNodes nodes;

    private byte @Nullable [] bytes;
    /** The parsed data, if this version knows its format. */
    private Optional<PathData> known = Optional.empty();

    private long writtenAt;

    PathContent(Session session, LockPath path, PresentNodes nodes) {
        this.session = session;
        this.path = path;
        this.nodes = nodes;
    }

    /** Notes that the path was created with this data at {@code zxid}. */
    void made(PathData made, long zxid) {
        bytes = made.bytes();
        known = Optional.of(made);
        writtenAt = zxid;
        session.context().learn(path, made);
    }

    void read(Consumer<Response<ZnodeStore.NodeData>> then) {
        session.connection().read(path.node(), answer -> {
            if (answer.ok()) {
                learn(answer.get());
            }
            then.accept(answer);
        });
    }

    /** Takes the data as just read. */
    public void learn(ZnodeStore.NodeData seen) {
        if (session.context().naming().isShared()) {
            return;
        }
        boolean news = writtenAt != seen.mzxid();
        bytes = seen.data();
        known = PathData.parse(seen.data());
        writtenAt = seen.mzxid();
        known.ifPresent(says -> session.context().learn(path, says));
        if (news) {
            // The path's capacity may have changed, and with it what all members wait for.
            List.copyOf(nodes.members()).forEach(QueueMember::lookAgain);
        }
    }

    void forget() {
        bytes = null;
    }

    boolean isUnread() {
        return bytes == null;
    }

    /** Returns the transaction that wrote the data as last read; 0 if none is known. */
    public long writtenAt() {
        return writtenAt;
    }

    /** Returns the data as last read; empty if that was nothing, or nothing is known. */
    byte[] bytes() {
        return bytes == null ? new byte[0] : bytes;
    }

    Optional<PathData> known() {
        return known;
    }

    /** Returns what the data says if that is the lock that {@code asked} describes. */
    Optional<PathData> agreeingWith(PathData asked) {
        return known.filter(asked::agreesWith);
    }

    /** Returns whether this was the data at the time of the list. */
    boolean isOf(ZnodeStore.Listing listing) {
        return bytes != null && bytes.length > 0 && writtenAt == listing.mzxid();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The reads of all queues of one request: in one packet, if it takes all of them, or one after the other. */
public final class CombinedReads {
    private CombinedReads() {}

    /**
     * Reads the queues behind the creates of all members of one request, which have just been sent. One request reads
     * them together if no other list is pending, none was lost before, and one packet takes all of them. At first
     * contact their sizes are unknown, and each path's data is read as well.
     */
    public static void behindCreatesOf(Map<QueueMember, QueueReader> members, Session session) {
        if (!canBeCombined(members.values(), session)) {
            members.forEach((member, reader) -> reader.readBehindCreateOf(member));
            return;
        }
        List<Consumer<Response<ZnodeStore.Listing>>> readings = new ArrayList<>(members.size());
        members.forEach((member, reader) -> readings.add(reader.reading(member)));
        session.lists().askTogether(paths(members.values()), () -> true, answers -> {
            for (int i = 0; i < readings.size(); i++) {
                readings.get(i).accept(answers.get(i));
            }
        });
    }

    /**
     * Reads the queues for a look, behind a {@code sync} in the same flight. They are not shared with other requests.
     *
     * @param wanted returns whether the answers are still needed
     * @param then takes a response for each, in their order; {@link Status#THROTTLED} if the {@code sync} was not carried
     *     out, as the answers may be older than the look
     */
    public static void look(
            List<QueueReader> readers,
            Session session,
            BooleanSupplier wanted,
            Consumer<List<Response<ZnodeStore.Listing>>> then) {
        List<String> paths = paths(readers);
        boolean[] isSynced = {false};
        // Not again if it is throttled: that would be behind the lists.
        session.connection()
                .<String>ask(
                        () -> false,
                        done -> session.connection().store().sync(paths.get(0), done),
                        synced -> isSynced[0] = synced.ok());
        Consumer<List<Response<ZnodeStore.Listing>>> ifSynced = lists -> then.accept(
                isSynced[0]
                        ? lists
                        : lists.stream().map(CombinedReads::withoutSync).toList());
        if (canBeCombined(readers, session)) {
            session.lists().askTogether(paths, wanted, ifSynced);
            return;
        }
        // One that is throttled, or risky, is answered behind others.
        Map<Integer, Response<ZnodeStore.Listing>> answers = new TreeMap<>();
        for (int i = 0; i < paths.size(); i++) {
            int place = i;
            session.lists().ask(paths.get(i), wanted, answer -> {
                answers.put(place, answer);
                if (answers.size() == paths.size()) {
                    ifSynced.accept(List.copyOf(answers.values()));
                }
            });
        }
    }

    private static Response<ZnodeStore.Listing> withoutSync(Response<ZnodeStore.Listing> list) {
        return list.ok() ? Response.failed(Status.THROTTLED, "the sync was not carried out") : list;
    }

    private static boolean canBeCombined(Collection<QueueReader> readers, Session session) {
        boolean together = readers.size() > 1;
        long bytes = 0;
        for (QueueReader reader : readers) {
            together = together && reader.mayReadWithOthers();
            bytes += reader.bytesOfAll();
        }
        return together && session.lists().isShort(bytes);
    }

    private static List<String> paths(Collection<QueueReader> readers) {
        return readers.stream().map(reader -> reader.path().node()).toList();
    }
}

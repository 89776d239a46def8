// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.store.FakeStore;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Watches whose answers and events come in an order that servers seldom give. */
class WatchesTest {
    private static final String NODE = "/m/write-00000000000000a1-0000000000";

    private static final Response<?> NO_DATA = Response.of(new ZnodeStore.NodeData(new byte[0], 1, 1, 0, 0, 0, 0));
    private static final Response<?> NO_CHILDREN = Response.of(new ZnodeStore.Listing(List.of(), 1));

    private final Engine engine = new Engine(WithoutServer.config());
    private final Session session = new Session(engine.context(), new SessionThatLives());
    /** What waits for the answer to a watch of the data, of the children, and to a removal. */
    private final List<Object> data = new ArrayList<>();

    private final List<Object> children = new ArrayList<>();
    private final List<Runnable> removals = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();

    WatchesTest() {
        session.open(server());
    }

    private ZnodeStore server() {
        return FakeStore.of((request, args) -> {
            assertEquals(NODE, args[0]);
            switch (request) {
                case "watchData" -> data.add(args[1]);
                case "watchChildren" -> children.add(args[1]);
                case "removeWatches" -> removals.add((Runnable) args[1]);
                default -> throw new AssertionError(request);
            }
        });
    }

    /** Hears of no difference between a release and another deletion. */
    private final class SimpleListener implements Watches.Listener {
        @Override
        public void gone() {
            heard.add("simple: gone");
        }

        @Override
        public void watchLost(Response<?> why) {
            heard.add("simple: " + why.code());
        }
    }

    /** Hears of the node by this name. */
    private Watches.Listener listener(String name) {
        return new Watches.Listener() {
            @Override
            public void released() {
                heard.add(name + ": released");
            }

            @Override
            public void gone() {
                heard.add(name + ": gone");
            }

            @Override
            public void watchLost(Response<?> why) {
                heard.add(name + ": " + why.code());
            }

            @Override
            public void seen(ZnodeStore.NodeData read) {
                heard.add(name + ": data");
            }

            @Override
            public void seen(ZnodeStore.Listing read) {
                heard.add(name + ": children");
            }
        };
    }

    /** As by a server that is overloaded. The other watch would stay there as long as the node. */
    @Test
    void otherWatchIsRemoved_whenTheServerRefusesOneOfTwo() {
        var unused = session.watches().watchForRelease(NODE, listener("one"));
        FakeStore.answer(children.get(0), NO_CHILDREN);
        FakeStore.answer(data.get(0), Response.failed(Status.OTHER, "UNIMPLEMENTED"));
        assertEquals(List.of("one: children", "one: OTHER"), heard);
        assertEquals(1, removals.size());
    }

    @Test
    void noWatchIsLost_whenFormerOnesAreRemovedOneAfterTheOther() {
        for (int i = 0; i < 2; i++) {
            session.watches().watchChildren(NODE, listener("former")).run();
        }
        var unused = session.watches().watchChildren(NODE, listener("present"));
        assertEquals(2, removals.size());
        for (Runnable removed : removals) {
            session.watches().fired(NODE, ZnodeStore.Change.WATCH_REMOVED, -1);
            removed.run();
        }
        assertEquals(List.of(), heard);
        session.watches().fired(NODE, ZnodeStore.Change.WATCH_REMOVED, -1);
        assertEquals(List.of("present: CONNECTION_LOSS"), heard, "that was removed by others");
    }

    /** Servers before 3.9 name no transaction: -1. */
    @ParameterizedTest
    @CsvSource({"7, 7, released", "7, 8, gone", "-1, -1, gone", "-1, 7, gone", "7, -1, gone"})
    void deletionIsARelease_onlyInTheTransactionThatChangedTheData(long changed, long deleted, String outcome) {
        var unused = session.watches().watchForRelease(NODE, listener("one"));
        var unused2 = session.watches().watchOwn(NODE, new SimpleListener());
        session.watches().fired(NODE, ZnodeStore.Change.DATA, changed);
        session.watches().fired(NODE, ZnodeStore.Change.DELETED, deleted);
        assertEquals(List.of("one: " + outcome, "simple: gone"), heard);
    }

    @Test
    void deletionIsNoRelease_whereNeitherChangeNorTransactionIsKnown() {
        var unused = session.watches().watchForRelease(NODE, listener("one"));
        session.watches().fired(NODE, ZnodeStore.Change.DELETED, -1);
        assertEquals(List.of("one: gone"), heard);
    }

    /** It may know older ones than the watch, which it shares. */
    @Test
    void laterListenerSeesDataAndChildren_whenTheWatchesAreConfirmed() {
        var unused = session.watches().watchForRelease(NODE, listener("one"));
        FakeStore.answer(data.get(0), NO_DATA);
        FakeStore.answer(children.get(0), NO_CHILDREN);
        var unused2 = session.watches().watchForRelease(NODE, listener("two"));
        assertEquals(List.of("one: data", "one: children", "two: data", "two: children"), heard);
        assertEquals(1, data.size());
        assertEquals(1, children.size());
    }

    /** Its answer is behind the event of the data. */
    @Test
    void dataIsWatchedAgain_whenItChangesBeforeTheWatchOfTheChildrenIsConfirmed() {
        var unused = session.watches().watchForRelease(NODE, listener("one"));
        FakeStore.answer(data.get(0), NO_DATA);
        session.watches().fired(NODE, ZnodeStore.Change.DATA, 2);
        var unused2 = session.watches().watchForRelease(NODE, listener("two"));
        assertEquals(2, data.size());
        assertEquals(1, children.size());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Events and answers of ZooKeeper's handle in any order, also such that servers give seldom. */
@Tag("slow")
class SessionHandleTest {
    private static final int TIMEOUT = 1_000;

    private final VirtualClock clock = new VirtualClock();
    /** What the session's listener hears. */
    private final List<String> heard = new ArrayList<>();
    /** The tasks for the threads of handles. */
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    private final Handle handle = new Handle();
    private boolean takesOver;

    SessionHandleTest() throws IOException {}

    @BeforeEach
    void nothingIsHeard() {
        assertEquals(List.of(), heard);
    }

    @AfterEach
    void closeHandle() throws InterruptedException {
        handle.end();
    }

    /** A handle that reaches no server, and is in the state that a test says. */
    private static final class Handle extends ZooKeeper {
        private States state = States.CONNECTED;
        private long id = 7;
        /** The watchers and callbacks of requests for the node of the session, and the paths of removed watches. */
        private final List<Watcher> watchers = new ArrayList<>();

        private final Queue<AsyncCallback.StatCallback> unanswered = new ArrayDeque<>();
        private final List<String> removed = new ArrayList<>();
        private int closed;

        Handle() throws IOException {
            super("127.0.0.1:1", TIMEOUT, event -> {});
        }

        @Override
        public States getState() {
            return state;
        }

        @Override
        public long getSessionId() {
            return id;
        }

        @Override
        public int getSessionTimeout() {
            return TIMEOUT;
        }

        @Override
        public void exists(String path, Watcher watcher, AsyncCallback.StatCallback then, Object context) {
            watchers.add(watcher);
            unanswered.add(then);
        }

        @Override
        public void removeAllWatches(
                String path, Watcher.WatcherType type, boolean local, AsyncCallback.VoidCallback then, Object context) {
            removed.add(path);
            then.processResult(0, path, context);
        }

        @Override
        public synchronized void close() {
            closed++;
        }

        void end() throws InterruptedException {
            super.close();
        }

        void answer(KeeperException.Code code) {
            unanswered.remove().processResult(code.intValue(), "", null, null);
        }
    }

    private final class Listener implements ZnodeStore.Listener {
        @Override
        public ClockReading now() {
            return clock.now();
        }

        @Override
        public Clock.Timer after(Duration delay, Runnable task) {
            return clock.after(delay, task);
        }

        @Override
        public void connected(int timeoutMillis, Optional<ZnodeStore.Attempt> attempt) {
            heard.add("connected for " + timeoutMillis);
        }

        @Override
        public void disconnected() {
            heard.add("disconnected");
        }

        @Override
        public void expired() {
            heard.add("expired");
        }

        @Override
        public void loginRefused() {
            heard.add("login refused");
        }

        @Override
        public void noted(String line) {
            heard.add("noted");
        }

        @Override
        public void failed(Throwable why) {
            heard.add("failed: " + why.getMessage());
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            if (path.equals("/thrown")) {
                throw new AssertionError("thrown by a test");
            }
            heard.add(change + " " + path + " " + zxid);
        }
    }

    private SessionHandle own() throws IOException {
        HandleOpener opener =
                (watcher, attempts) -> new HandleOpener.Opened(handle, takesOver, SessionNodes.ofNewSession(0));
        return new SessionHandle(opener, tasks::add, new Listener());
    }

    private SessionHandle borrowed() {
        return SessionHandle.borrow(handle, tasks::add, new Listener());
    }

    private static void session(SessionHandle opened, KeeperState state) {
        opened.watcher().process(new WatchedEvent(EventType.None, state, null));
    }

    private void assertHeard(String... all) {
        assertEquals(List.of(all), heard);
        heard.clear();
    }

    private void timePasses(int millis) {
        clock.pass(Duration.ofMillis(millis));
        List<Runnable> due = List.copyOf(clock.timers());
        clock.timers().clear();
        due.forEach(Runnable::run);
    }

    // ---- events

    @ParameterizedTest
    @CsvSource({
        "SyncConnected, connected for 1000",
        "Disconnected, disconnected",
        "ConnectedReadOnly, disconnected",
        "Expired, expired",
        "Closed, expired",
        "AuthFailed, login refused",
        "SaslAuthenticated, ''",
    })
    void stateOfTheSessionIsReported(KeeperState state, String report) throws IOException {
        session(own(), state);
        assertEquals(report, String.join(", ", heard));
    }

    @ParameterizedTest
    @CsvSource({
        "NodeDataChanged, DATA",
        "NodeDeleted, DELETED",
        "NodeChildrenChanged, CHILDREN",
        "DataWatchRemoved, WATCH_REMOVED",
        "ChildWatchRemoved, WATCH_REMOVED",
    })
    void changeOfANodeIsReported(EventType type, ZnodeStore.Change change) throws IOException {
        own().watcher().process(new WatchedEvent(type, KeeperState.SyncConnected, "/m/write-1", 42));
        assertHeard(change + " /m/write-1 42");
    }

    /** Otherwise it would end in ZooKeeper's client, and nothing would follow. */
    @Test
    void reportThatThrowsIsReported() throws IOException {
        own().watcher().process(new WatchedEvent(EventType.NodeDeleted, KeeperState.SyncConnected, "/thrown", 42));
        assertHeard("failed: thrown by a test");
    }

    // ---- the session

    @Test
    void sessionIsThatOfTheFirstConnection() throws IOException {
        SessionHandle opened = own();
        assertEquals(0, opened.session());
        session(opened, KeeperState.SyncConnected);
        session(opened, KeeperState.Disconnected);
        session(opened, KeeperState.SyncConnected);
        assertHeard("connected for 1000", "disconnected", "connected for 1000");
        assertEquals(7, opened.session());
    }

    @Test
    void sessionHasEnded_whenAReconnectIsAnsweredByAnother() throws IOException {
        SessionHandle opened = own();
        session(opened, KeeperState.SyncConnected);
        handle.id = 8;
        session(opened, KeeperState.SyncConnected);
        assertHeard("connected for 1000", "noted", "expired");
        assertEquals(7, opened.session());
    }

    /** It has no nodes, and another id for as long as it is one. */
    @Test
    void readOnlySessionDoesNotCount() {
        SessionHandle opened = borrowed();
        handle.state = ZooKeeper.States.CONNECTEDREADONLY;
        handle.id = 3;
        handle.answer(KeeperException.Code.NONODE);
        assertEquals(0, opened.session());
        handle.state = ZooKeeper.States.CONNECTED;
        handle.id = 7;
        handle.watchers.get(0).process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
        assertHeard("connected for 1000", "connected for 1000");
        assertEquals(7, opened.session());
    }

    // ---- a handle of no use

    @Test
    void handleIsGivenUp_whenNoServerAcceptsItForTwoTimeouts() throws IOException {
        SessionHandle opened = own();
        session(opened, KeeperState.SyncConnected);
        assertEquals(List.of(Duration.ofMillis(TIMEOUT / 2)), clock.delays());
        timePasses(10 * TIMEOUT);
        assertHeard("connected for 1000");
        session(opened, KeeperState.Disconnected);
        timePasses(TIMEOUT);
        session(opened, KeeperState.Disconnected);
        timePasses(TIMEOUT - 1);
        assertHeard("disconnected", "disconnected");
        timePasses(1);
        assertHeard("noted", "expired");
        assertEquals(List.of(), clock.timers());
    }

    @Test
    void handleIsGivenUp_whenItsThreadHasEnded() throws Exception {
        SessionHandle opened = own();
        Thread events = new Thread(() -> session(opened, KeeperState.SyncConnected));
        events.start();
        events.join();
        timePasses(TIMEOUT / 2);
        assertHeard("connected for 1000", "noted", "expired");
    }

    @Test
    void borrowedHandleIsItsOwners_andNotGivenUp() {
        SessionHandle opened = borrowed();
        handle.answer(KeeperException.Code.NONODE);
        assertEquals(List.of(), clock.timers());
        assertTrue(opened.answersOn(Thread.currentThread()));
    }

    // ---- the end

    @Test
    void handleIsClosedOnAThreadOfItsOwn_andNotLookedAtAnyMore() throws IOException {
        SessionHandle opened = own();
        session(opened, KeeperState.SyncConnected);
        opened.close(() -> heard.add("closed"));
        assertEquals(0, handle.closed);
        tasks.remove().run();
        assertEquals(1, handle.closed);
        session(opened, KeeperState.Disconnected);
        timePasses(10 * TIMEOUT);
        assertHeard("connected for 1000", "closed", "disconnected");
        assertEquals(List.of(), clock.timers());
    }

    @Test
    void formerSessionIsClosed_onceItIsConnected() throws IOException {
        takesOver = true;
        SessionHandle opened = own();
        session(opened, KeeperState.Disconnected);
        session(opened, KeeperState.SyncConnected);
        tasks.remove().run();
        assertEquals(1, handle.closed);
        session(opened, KeeperState.Closed);
        assertHeard("disconnected", "expired");
    }

    // ---- a borrowed handle

    @ParameterizedTest
    @CsvSource({
        "OK, connected for 1000",
        "NONODE, connected for 1000",
        "SESSIONEXPIRED, expired",
        "AUTHFAILED, login refused",
    })
    void answerToTheFirstWatchIsReported(KeeperException.Code code, String report) {
        SessionHandle unused = borrowed();
        handle.answer(code);
        assertHeard(report);
    }

    @Test
    void watchIsSetAgain_whenItWasLostOrRefused() {
        SessionHandle unused = borrowed();
        handle.answer(KeeperException.Code.CONNECTIONLOSS);
        assertEquals(2, handle.watchers.size());
        handle.answer(KeeperException.Code.THROTTLEDOP);
        assertEquals(2, handle.watchers.size());
        timePasses((int) Throttling.PAUSE.toMillis());
        assertEquals(3, handle.watchers.size());
        handle.answer(KeeperException.Code.NONODE);
        assertHeard("connected for 1000");
    }

    /** Another client may create or delete the node. */
    @Test
    void watchThatFiredIsSetAgain() {
        SessionHandle unused = borrowed();
        handle.answer(KeeperException.Code.NONODE);
        handle.watchers.get(0).process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
        assertEquals(1, handle.watchers.size());
        handle.watchers.get(0).process(new WatchedEvent(EventType.NodeCreated, KeeperState.SyncConnected, "/any"));
        assertEquals(2, handle.watchers.size());
        assertHeard("connected for 1000", "disconnected");
    }

    @Test
    void borrowedHandleIsGivenBack_withoutItsWatch() {
        SessionHandle opened = borrowed();
        opened.close(() -> heard.add("closed"));
        assertEquals(1, handle.removed.size());
        // The watch may be set behind its removal.
        handle.answer(KeeperException.Code.NONODE);
        assertEquals(2, handle.removed.size());
        handle.watchers.get(0).process(new WatchedEvent(EventType.NodeCreated, KeeperState.SyncConnected, "/any"));
        assertEquals(1, handle.watchers.size());
        assertEquals(0, handle.closed);
        assertHeard("closed");
    }

    /** An overloaded server has refused the watch. */
    @Test
    void watchIsNotSetAgain_onceTheHandleIsGivenBack() {
        SessionHandle opened = borrowed();
        handle.answer(KeeperException.Code.THROTTLEDOP);
        opened.close(() -> {});
        timePasses((int) Throttling.PAUSE.toMillis());
        assertEquals(1, handle.watchers.size());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Who is notified of a loss, and what waits for it, while threads of bodies and of stages are late. */
class LeaseEndTest {
    private final VirtualClock clock = new VirtualClock();
    /** The tasks that are to interrupt bodies, and those that are to run stages. */
    private final Queue<Runnable> alarms = new ArrayDeque<>();

    private final Queue<Runnable> stages = new ArrayDeque<>();
    private final ClientContext context = context();
    private final LeaseEnd end = new LeaseEnd(new Session(context, new NoClient()), lease());
    private final List<String> heard = new ArrayList<>();

    private ClientContext context() {
        ClientConfig plain = WithoutServer.config();
        Outbox outbox = new Outbox(alarms::add, stages::add, Runnable::run, ClientLog.inPlace(), Optional.empty());
        ClientConfig config = new ClientConfig(
                plain.source(),
                plain.sessionTimeout(),
                plain.margin(),
                plain.owner(),
                plain.ids(),
                clock,
                outbox,
                plain.relief(),
                plain.naming());
        return new ClientContext(
                config,
                new ClientEvents(outbox, clock, plain.sessionTimeout(), ""),
                new ClientContext.CallbackMark(),
                path -> 0,
                () -> false,
                failed -> {
                    throw new AssertionError(failed);
                });
    }

    private static final class NoClient implements Session.Client {
        @Override
        public void sessionOver(Session session) {}

        @Override
        public void loginRefused() {}
    }

    private static Lease lease() {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (proxy, method, arguments) -> "/m");
    }

    private void lost() {
        assertTrue(end.lose(LossCause.NODE_DELETED));
        end.notifyOwner(
                LossCause.NODE_DELETED, context.eventsOf(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")))));
    }

    private static void run(Queue<Runnable> tasks) {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    @Test
    void firstEndCounts() {
        assertFalse(end.isOver());
        assertEquals(Optional.empty(), end.lossCause());
        assertTrue(end.release());
        assertFalse(end.lose(LossCause.NODE_DELETED));
        assertFalse(end.release());
        assertTrue(end.isOver() && end.isReleased());
        assertEquals(Optional.empty(), end.lossCause());
    }

    /** Two threads may end it on behalf of one release. */
    @Test
    void firstReleaseCounts_howeverOftenItIsCarriedOut() {
        Object first = new Object();
        assertTrue(end.release(first));
        assertTrue(end.release(first));
        assertFalse(end.release(new Object()));
        assertFalse(end.release());
    }

    @Test
    void firstLossCounts_howeverOftenItIsNoted() {
        Object first = new Object();
        assertTrue(end.lose(LossCause.DEADLINE_PASSED, first));
        assertTrue(end.lose(LossCause.DEADLINE_PASSED, first));
        assertFalse(end.lose(LossCause.CLIENT_CLOSED, new Object()));
        assertFalse(end.release(first));
        assertEquals(Optional.of(LossCause.DEADLINE_PASSED), end.lossCause());
    }

    @Test
    void firstLossCounts() {
        assertTrue(end.lose(LossCause.NODE_DELETED));
        assertFalse(end.lose(LossCause.CLIENT_CLOSED));
        assertFalse(end.release());
        assertTrue(end.isOver());
        assertFalse(end.isReleased());
        assertEquals(Optional.of(LossCause.NODE_DELETED), end.lossCause());
    }

    @Test
    void nothingIsWaitedFor_whenTheLeaseWasReleased() {
        assertTrue(end.isNotified(), "it has not ended");
        end.release();
        assertTrue(end.isNotified());
    }

    @Test
    void nothingIsWaitedFor_whenNoOneHasAsked() {
        end.lose(LossCause.NODE_DELETED);
        assertFalse(end.isNotified(), "the owner is about to be notified");
        end.notifyOwner(
                LossCause.NODE_DELETED, context.eventsOf(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")))));
        assertTrue(end.isNotified());
        assertEquals(1, stages.size(), "a stage may still be asked for");
    }

    @Test
    void stagesAreWaitedFor() {
        var unused = end.lossStage().thenAccept(cause -> heard.add("stage " + cause));
        lost();
        assertFalse(end.isNotified());
        assertEquals(List.of(), heard);
        run(stages);
        assertTrue(end.isNotified());
        assertEquals(List.of("stage NODE_DELETED"), heard);
    }

    @Test
    void bodiesAreWaitedFor_alsoWhenTheirInterruptFails() {
        end.onLoss(cause -> heard.add("body " + cause));
        end.onLoss(cause -> {
            throw new AssertionError("thrown by a test");
        });
        lost();
        assertFalse(end.isNotified());
        alarms.remove().run();
        assertFalse(end.isNotified(), "one of two");
        run(alarms);
        assertTrue(end.isNotified());
        assertEquals(List.of("body NODE_DELETED"), heard);
    }

    @Test
    void bodiesAndStagesAreWaitedFor() {
        var unused = end.lossStage();
        end.onLoss(cause -> {});
        lost();
        run(alarms);
        assertFalse(end.isNotified());
        run(stages);
        assertTrue(end.isNotified());
    }

    @Test
    void bodyThatBeginsBehindTheLossIsInterrupted() {
        lost();
        end.onLoss(cause -> heard.add("body " + cause));
        run(alarms);
        assertEquals(List.of("body NODE_DELETED"), heard);
    }

    @Test
    void deletionWaitsForTheNotice_orForATwentiethOfTheTimeout() {
        for (boolean late : new boolean[] {false, true}) {
            heard.clear();
            clock.timers().clear();
            clock.delays().clear();
            LeaseEnd each = new LeaseEnd(new Session(context, new NoClient()), lease());
            var unused = each.lossStage();
            each.lose(LossCause.NODE_DELETED);
            each.notifyOwner(
                    LossCause.NODE_DELETED,
                    context.eventsOf(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")))));
            each.onceNotified(() -> heard.add("deleted"));
            assertEquals(List.of(Duration.ofMillis(500)), clock.delays());
            assertEquals(List.of(), heard);
            if (late) {
                clock.timers().get(0).run();
            } else {
                run(stages);
            }
            assertEquals(List.of("deleted"), heard);
            assertTrue(each.isNotified());
        }
    }
}

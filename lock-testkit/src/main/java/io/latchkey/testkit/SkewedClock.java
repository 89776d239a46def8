// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.SuccessiveHandles;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.SystemClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Clocks that run fast or slow against the machine's, to simulate drift: both clocks of a client, and its timer.
 * Actions of ZooKeeper's own client, such as its pings, stay on the machine's clock. Pass it to {@link
 * FaultyClient#connect(ZooKeeperFixture, Duration, SkewedClock)}, each client one of its own; closing the client ends
 * it.
 */
public final class SkewedClock {
    private static final double NANOS_IN_MILLI = 1e6;

    private final double rate;

    private SkewedClock(double rate) {
        this.rate = rate;
    }

    /**
     * Clocks that show the machine's time now.
     *
     * @param rate how many of their seconds pass in one of the machine's: above 1 they run fast, below 1 slow
     * @return clocks for one client
     * @throws IllegalArgumentException if the rate is not above 0, or infinite
     */
    public static SkewedClock of(double rate) {
        if (!(rate > 0) || Double.isInfinite(rate)) {
            throw new IllegalArgumentException("clocks must go on, not at a rate of " + rate);
        }
        return new SkewedClock(rate);
    }

    private static final class DriftingClock implements Clock {
        private final double rate;
        private final Clock machine;
        private final long nanosAtStart;
        private final long wallAtStart;

        DriftingClock(double rate, Clock machine) {
            this.rate = rate;
            this.machine = machine;
            this.nanosAtStart = machine.nanos();
            this.wallAtStart = machine.wallMillis();
        }

        @Override
        public long nanos() {
            return nanosAtStart + (long) (rate * (machine.nanos() - nanosAtStart));
        }

        @Override
        public long wallMillis() {
            return wallAtStart + (long) (rate * (machine.nanos() - nanosAtStart) / NANOS_IN_MILLI);
        }

        @Override
        public Duration standstill(Duration span) {
            Duration machines = machine.standstill(Duration.ofNanos((long) (span.toNanos() / rate)));
            return Duration.ofNanos((long) (rate * machines.toNanos()));
        }

        @Override
        public Timer after(Duration delay, Runnable task) {
            return machine.after(Duration.ofNanos((long) (delay.toNanos() / rate)), task);
        }

        @Override
        public void close() {
            machine.close();
        }
    }

    /** A client that lives by these clocks; closing it closes them. */
    LockClient connect(String connectString, Duration sessionTimeout, String label) {
        SuccessiveHandles sessions = new SuccessiveHandles(
                new ZooKeeperHandles(connectString, sessionTimeout, List.of(), new ZKClientConfig()));
        Engine engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(listener -> ZooKeeperStore.open(
                        sessions,
                        ZooKeeperHandles.OPEN_ACL,
                        task -> DaemonThreads.factory("latchkey-skewed-handle")
                                .newThread(task)
                                .start(),
                        listener)),
                sessionTimeout,
                Optional.empty(),
                new OwnerData("", ProcessHandle.current().pid(), label),
                () -> ThreadLocalRandom.current().nextLong(),
                new DriftingClock(
                        rate, new SystemClock(DaemonThreads.factory("latchkey-skewed-timer"), sessionTimeout)),
                Outbox.inPlace(ForkJoinPool.commonPool(), Optional.empty()),
                Runnable::run,
                Namings.LATCHKEY));
        LockClient client = new EngineLockClient(engine, Optional.empty());
        try {
            engine.start();
            if (engine.awaitConnection(FaultyClient.CONNECTS_WITHIN)) {
                return client;
            }
            throw new LockServiceUnavailableException("no connection to " + connectString);
        } catch (IOException e) {
            client.close();
            throw new LockServiceUnavailableException("cannot open a ZooKeeper handle to " + connectString + ": " + e);
        } catch (InterruptedException e) {
            client.close();
            Thread.currentThread().interrupt();
            throw new LockServiceUnavailableException("interrupted while connecting to " + connectString);
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }
}

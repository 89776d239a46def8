// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** Configurations of clients of tests that have no server. */
public final class WithoutServer {
    private WithoutServer() {}

    /** Returns the configuration of one with this session timeout, and with a margin if one is given. */
    public static ClientConfig config(Duration sessionTimeout, Optional<Duration> margin) {
        return config(new ClientConfig.Source.Own(WithoutServer::open), sessionTimeout, margin, new VirtualClock());
    }

    /** Returns the configuration of one whose handles are opened like this. */
    public static ClientConfig config(ClientConfig.Opener opener, Duration sessionTimeout, VirtualClock clock) {
        return config(new ClientConfig.Source.Own(opener), sessionTimeout, Optional.empty(), clock);
    }

    /** Returns the configuration of one that borrows its session, with a session timeout of 10 s until it connects. */
    public static ClientConfig borrowing() {
        return borrowing(WithoutServer::open, new VirtualClock());
    }

    /** Returns the same of one whose handle is opened like this. */
    public static ClientConfig borrowing(ClientConfig.Opener opener, VirtualClock clock) {
        return config(new ClientConfig.Source.Borrowed(opener), Duration.ofSeconds(10), Optional.empty(), clock);
    }

    private static ZnodeStore open(ZnodeStore.Listener listener) throws IOException {
        throw new IOException("no server here");
    }

    private static ClientConfig config(
            ClientConfig.Source source, Duration sessionTimeout, Optional<Duration> margin, VirtualClock clock) {
        return new ClientConfig(
                source,
                sessionTimeout,
                margin,
                new OwnerData("host", 1, ""),
                new AtomicLong()::incrementAndGet,
                clock,
                outbox(),
                Runnable::run,
                Namings.LATCHKEY);
    }

    /** Without a log: beside the tests of other modules an error that is logged fails a test. */
    private static Outbox outbox() {
        Executor inPlace = Runnable::run;
        return new Outbox(inPlace, inPlace, inPlace, new ClientLog(line -> {}), Optional.empty());
    }

    /** Returns the same with a session timeout of 10 s. */
    public static ClientConfig config() {
        return config(Duration.ofSeconds(10), Optional.empty());
    }
}

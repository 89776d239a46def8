// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * The configuration of a client.
 *
 * @param source the source of its sessions
 * @param sessionTimeout the timeout that it asks for; the server may grant another
 * @param margin how long a touch may take from a server to the leader; derived from the timeout if empty
 * @param owner the owner data of its requests
 * @param ids random bits for the ids of requests
 * @param time its clocks and timer
 * @param outbox the exits for code that is not the engine's own
 * @param relief runs tasks that would delay a caller's thread for too long
 * @param naming the naming of requests, which decides which clients share the paths
 */
public record ClientConfig(
        Source source,
        Duration sessionTimeout,
        Optional<Duration> margin,
        OwnerData owner,
        LongSupplier ids,
        Clock time,
        Outbox outbox,
        Executor relief,
        Naming naming) {
    /** The source of a client's sessions. */
    public sealed interface Source {
        /** Opens a new session when the previous one is over. */
        record Own(Opener opener) implements Source {}

        /** The session of a handle that the caller owns. When it is over, so is this client. */
        record Borrowed(Opener opener) implements Source {}

        Opener opener();
    }

    /** Opens the store of a new session. */
    @FunctionalInterface
    public interface Opener {
        ZnodeStore open(ZnodeStore.Listener listener) throws IOException;
    }
}

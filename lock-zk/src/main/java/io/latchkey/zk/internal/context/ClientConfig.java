// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * What a client is made of.
 *
 * @param source where its sessions come from
 * @param sessionTimeout the time-out asked for; the server has the last word
 * @param margin how long a touch may take from a server to the leader; by the time-out if empty
 * @param owner what its requests say of it
 * @param ids random bits for the ids of requests
 * @param time its clocks and timer
 * @param callbacks where users' callbacks run; it neither blocks nor runs them in the submitting thread
 * @param relief where steps go on that would keep a caller's thread for too long
 * @param shown from a node's path to the path as the user named it
 * @param naming how requests are named, and with whom they share paths
 * @param observer who is told of all that happens; closed with the engine
 */
public record ClientConfig(
        Source source,
        Duration sessionTimeout,
        Optional<Duration> margin,
        Owner owner,
        LongSupplier ids,
        Clock time,
        Executor callbacks,
        Executor relief,
        UnaryOperator<String> shown,
        Naming naming,
        Optional<ObserverDispatcher> observer) {
    /** One without an observer, in Latchkey's own layout, whose callers' threads take all steps that come. */
    public ClientConfig(
            Source source,
            Duration sessionTimeout,
            Optional<Duration> margin,
            Owner owner,
            LongSupplier ids,
            Clock time,
            Executor callbacks,
            UnaryOperator<String> shown) {
        this(
                source,
                sessionTimeout,
                margin,
                owner,
                ids,
                time,
                callbacks,
                Runnable::run,
                shown,
                Namings.LATCHKEY,
                Optional.empty());
    }

    /** Where sessions come from. */
    public sealed interface Source {
        /** Opens a new session when the former is over. */
        record Own(Opener opener) implements Source {}

        /** The session of somebody else's handle: when it is over, so is this client. */
        record Borrowed(Opener opener) implements Source {}

        Opener opener();
    }

    /** Makes the port of a new session. */
    @FunctionalInterface
    public interface Opener {
        ZnodeStore open(ZnodeStore.Listener listener) throws IOException;
    }
}

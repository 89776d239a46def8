// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * The exits of a client: the only ways in which a step of the engine causes code of others to run. Each exit has
 * threads of its own, so submitting blocks for nothing, and what one piece of code does keeps none behind another exit
 * from running.
 *
 * @param alarms interrupts the threads of bodies whose lease is lost; begins promptly, in order
 * @param callbacks runs stages of users' futures
 * @param handles opens and closes ZooKeeper handles, which starts their threads
 * @param log writes the log
 * @param observer calls the observer, if there is one
 */
public record Outbox(
        Executor alarms, Executor callbacks, Executor handles, ClientLog log, Optional<ObserverDispatcher> observer) {
    /** Returns the exits of a simulation, which run all in place but for {@code callbacks}. */
    public static Outbox inPlace(Executor callbacks, Optional<ObserverDispatcher> observer) {
        return new Outbox(Runnable::run, callbacks, Runnable::run, ClientLog.inPlace(), observer);
    }
}

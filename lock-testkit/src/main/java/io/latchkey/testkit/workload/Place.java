// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.workload.FaultSchedule.TimedAction;
import java.util.List;

/** The servers or the simulation in which a scenario is played. */
interface Place {
    LockClient client(int number);

    /** Returns the client's name in the history. */
    String name(int client);

    Acquirable recorded(int client, Acquirable lock, LockClaim... claims);

    /** Returns whether each actor has a thread of its own, which may wait. */
    boolean mayWait();

    /** Returns whether nothing passes between the client and the server at the moment. */
    default boolean isCutOff(int client) {
        return false;
    }

    long millis();

    /** Lets everything happen that is due now. */
    default void settle() {}

    /** Takes all steps, until no request is left; returns the faults that struck. */
    List<TimedAction> play(List<ActorRun> actors, FaultSchedule faults) throws InterruptedException;
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.SimulatedLocks.ClientBuilder;
import io.latchkey.testkit.sim.ObservedClients;
import java.util.function.UnaryOperator;

/** Ours on the simulation, with an observer for each client, whose calls are checked. */
class ObservedFixture extends SimulatedFixture {
    private final ObservedClients observed;

    ObservedFixture() {
        this(builder -> builder, new ObservedClients());
    }

    ObservedFixture(UnaryOperator<ClientBuilder> settings) {
        this(settings, new ObservedClients());
    }

    private ObservedFixture(UnaryOperator<ClientBuilder> settings, ObservedClients observed) {
        super(client -> client, builder -> settings.apply(builder).observer(observed.next()));
        this.observed = observed;
    }

    @Override
    public void close() {
        super.close();
        observed.assertNothingIsBroken();
    }
}

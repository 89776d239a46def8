// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The simulation, with one server. */
final class SimulatedBench implements Bench {
    private final Leader leader = new Leader(new SimulatedTime(), Sessions.Expiry.BY_FORCE);
    private final Server server = new Server(leader);
    private final List<SimulatedPort> ports = new ArrayList<>();

    @Override
    public ZnodeStore open(ZnodeStore.Listener listener) {
        SimulatedPort port = new SimulatedPort(leader, Duration.ofSeconds(30), listener, Runnable::run);
        ports.add(port);
        settle();
        return port;
    }

    @Override
    public void settle() {
        BoundedLoop.all(() -> {
            while (server.lags()) {
                server.applyNext();
            }
            boolean moved = false;
            for (SimulatedPort port : ports) {
                moved |= Delivery.next(port, server);
            }
            return moved;
        });
    }

    @Override
    public void expire(ZnodeStore session) {
        leader.closeSession(((SimulatedPort) session).session());
    }

    @Override
    public void cut(ZnodeStore session) {
        ((SimulatedPort) session).cut();
    }

    @Override
    public void close() {
        ports.forEach(port -> port.close(() -> {}));
    }
}

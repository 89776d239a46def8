// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import com.google.common.util.concurrent.MoreExecutors;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The shipped engine over simulated servers, and its workers. */
final class Client implements ClientConfig.Opener {
    static final Duration SESSION = Duration.ofSeconds(6);

    private final int index;
    private final Leader leader;
    private final Engine engine;
    private final SimulatedTime.View time;
    private final ObserverRules observer;
    private final List<Worker> workers = new ArrayList<>(2);
    private @Nullable SimulatedPort port;
    private long ids;
    private Duration still = Duration.ZERO;

    Client(int index, Leader leader, Consumer<Broken> broken) {
        this.index = index;
        this.leader = leader;
        this.ids = (index + 1L) << 32;
        this.time = leader.time().view();
        this.observer = new ObserverRules(broken);
        this.engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(this),
                SESSION,
                Optional.empty(),
                new Owner("simulated", 1, toString()),
                () -> ids++,
                time,
                Runnable::run,
                Runnable::run,
                path -> path,
                Namings.LATCHKEY,
                Optional.of(new ObserverDispatcher(observer, MoreExecutors.newDirectExecutorService()))));
    }

    void start() {
        try {
            engine.start();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public ZnodeStore open(ZnodeStore.Listener listener) {
        SimulatedPort opened = new SimulatedPort(leader, SESSION, listener);
        port = opened;
        return opened;
    }

    Engine engine() {
        return engine;
    }

    ObserverRules observer() {
        return observer;
    }

    SimulatedTime.View time() {
        return time;
    }

    /** Pauses the client's process until it goes on. */
    void standStill() {
        still = still.minusNanos(time.nanos());
        time.standStill();
        port().standStill();
    }

    void goOn() {
        still = still.plusNanos(time.nanos());
        time.goOn();
        port().goOn();
    }

    /** Returns the total time of its standstills, once it runs again. */
    Duration stoodStill() {
        return still;
    }

    boolean isStill() {
        return time.isStill();
    }

    /** Returns the handle of its current session. */
    SimulatedPort port() {
        return Objects.requireNonNull(port);
    }

    List<Worker> workers() {
        return workers;
    }

    @Override
    public String toString() {
        return "C" + index;
    }
}

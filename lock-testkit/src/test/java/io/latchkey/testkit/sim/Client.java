package io.latchkey.testkit.sim;

import io.latchkey.zk.queue.Owner;
import io.latchkey.zk.session.Engine;
import io.latchkey.zk.session.ZooPort;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The shipped engine over simulated servers, and those who use it. */
final class Client implements Engine.Opener {
    private static final Duration SESSION = Duration.ofSeconds(6);

    private final String name;
    private final Leader leader;
    private final Engine engine;
    private final List<Worker> workers = new ArrayList<>();
    private @Nullable SimulatedPort port;

    private Client(String name, Leader leader, SimulatedTime time, SplittableRandom ids) {
        this.name = name;
        this.leader = leader;
        this.engine = new Engine(new Engine.Config(
                new Engine.Source.Own(this),
                SESSION,
                Optional.empty(),
                new Owner("simulated", 1, name),
                ids::nextLong,
                time.view(),
                Runnable::run,
                path -> path));
    }

    static Client start(
            String name, int workers, Leader leader, SimulatedTime time, SplittableRandom ids, Consumer<String> diary)
            throws IOException {
        Client client = new Client(name, leader, time, ids);
        for (int i = 0; i < workers; i++) {
            client.workers.add(new Worker(name + (char) ('a' + i), client.engine, diary));
        }
        client.engine.start();
        return client;
    }

    @Override
    public ZooPort open(ZooPort.Listener listener) {
        SimulatedPort opened = new SimulatedPort(leader, SESSION, listener);
        port = opened;
        return opened;
    }

    /** The handle of its present session. */
    SimulatedPort port() {
        return Objects.requireNonNull(port);
    }

    List<Worker> workers() {
        return workers;
    }

    @Override
    public String toString() {
        return name;
    }
}

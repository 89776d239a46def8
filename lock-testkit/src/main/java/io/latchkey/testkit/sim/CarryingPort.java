// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A thread-safe port: the calling thread executes the request, or leaves it to the thread that is already draining the
 * queue.
 */
final class CarryingPort implements ZnodeStore {
    private final ImmediateZooKeeper to;
    /** Confined to the serial executor of {@link #to}. */
    private @Nullable SimulatedPort port;

    CarryingPort(ImmediateZooKeeper to) {
        this.to = to;
    }

    void carryTo(SimulatedPort opened) {
        port = opened;
    }

    private SimulatedPort port() {
        return Objects.requireNonNull(port);
    }

    @Override
    public void create(String path, byte[] data, Consumer<Response<Created>> then) {
        to.carry(() -> port().create(path, data, then));
    }

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        to.carry(() -> port().list(path, then));
    }

    @Override
    public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
        to.carry(() -> port().lists(paths, then));
    }

    @Override
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        to.carry(() -> port().exist(paths, then));
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        to.carry(() -> port().read(path, then));
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        to.carry(() -> port().watchData(path, then));
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        to.carry(() -> port().watchChildren(path, then));
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        to.carry(() -> port().removeWatches(path, then));
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<Written>> then) {
        to.carry(() -> port().write(writes, then));
    }

    /** Returns without waiting: later requests to the simulation run after this one. */
    @Override
    public void close(Runnable then) {
        to.carry(() -> port().close(then));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ServerNode;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Ours on the simulation, with time that passes as on the machine. */
final class SimulatedFixture implements LockFixture {
    private final SimulatedLocks locks = SimulatedLocks.startWithTimePassing(Duration.ofSeconds(6));

    @Override
    public LockClient newClient() {
        return locks.client();
    }

    @Override
    public LockClient newBriefClient() {
        return locks.client("brief", Duration.ofMillis(800));
    }

    @Override
    public void expire(LockClient client) {
        locks.expire(client);
    }

    @Override
    public void cutOff(LockClient client) {
        locks.cutOff(client);
    }

    @Override
    public void disconnect(LockClient client) {
        locks.disconnect(client);
    }

    @Override
    public void heal(LockClient client) {
        locks.heal(client);
    }

    @Override
    public void deleteRequest(String path, int place) {
        List<ServerNode> requests = locks.nodesUnder(path).stream()
                .filter(ServerNode::isEphemeral)
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
        locks.delete(requests.get(place).path());
    }

    @Override
    public Map<Feature, String> lacking() {
        return Map.of(Feature.WIRE_FAULTS, "every request is answered at once");
    }

    @Override
    public void close() {
        locks.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Thousands of nodes with names of requests, without clients that wait for them. */
final class ForgedRequests {
    private static final int BATCH = 250;

    private ForgedRequests() {}

    /** Names of so many requests for a mutex or a write lock, numbered from {@code first} on. */
    static Stream<String> writers(int first, int count) {
        return names(Tag.WRITE, 1, first, count);
    }

    /** Names of so many requests for so many permits each. */
    static Stream<String> leases(int permits, int first, int count) {
        return names(Tag.LEASE, permits, first, count);
    }

    private static Stream<String> names(Tag tag, int permits, int first, int count) {
        return IntStream.range(0, count)
                .mapToObj(i ->
                        NodeName.prefix(tag, String.format("%016x", i), permits) + String.format("%010d", first + i));
    }

    static void create(ZooKeeper by, CreateMode mode, String path, Stream<String> names) throws Exception {
        carryOut(
                by,
                names.map(name -> Op.create(path + '/' + name, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, mode))
                        .toList());
    }

    static void delete(ZooKeeper by, String path, Stream<String> names) throws Exception {
        carryOut(by, names.map(name -> Op.delete(path + '/' + name, -1)).toList());
    }

    private static void carryOut(ZooKeeper by, List<Op> ops) throws Exception {
        for (int next = 0; next < ops.size(); next += BATCH) {
            var unused = by.multi(new ArrayList<>(ops.subList(next, Math.min(ops.size(), next + BATCH))));
        }
    }
}

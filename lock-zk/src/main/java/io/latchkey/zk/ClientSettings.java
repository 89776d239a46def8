// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** The settings of a client, as its builder has set them. {@link ZkLockClient.Builder} says what each one means. */
final class ClientSettings {
    private static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(10);
    /** Servers read 1,048,575 bytes and something more by default. */
    private static final long DEFAULT_SESSION_NODE_BYTES = 1_000_000;

    final List<ZooKeeperHandles.Auth> auth = new ArrayList<>();

    @Nullable
    String connectString;

    @Nullable
    ZooKeeper borrowed;

    Duration sessionTimeout = DEFAULT_SESSION_TIMEOUT;

    @Nullable
    Duration connectTimeout;

    String basePath = "";

    @Nullable
    List<ACL> acl;

    ZKClientConfig clientConfig = new ZKClientConfig();
    String label = "";
    Optional<Duration> validityMargin = Optional.empty();

    @Nullable
    Executor callbacks;

    Optional<TurnBounds> turnBounds = Optional.empty();
    Optional<LockObserver> observer = Optional.empty();
    Layout layout = Layout.LATCHKEY;
    long sessionNodeBytes = DEFAULT_SESSION_NODE_BYTES;

    record TurnBounds(int most, Duration longest) {}
}

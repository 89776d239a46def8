// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Locale;

/** The systems that are measured. */
enum Contestant {
    /** The limit: a sequential ephemeral node is created and deleted, without reads and without exclusion. */
    RAW,
    /** The limit for this protocol: Latchkey's requests, sent with ZooKeeper's own client. */
    BARE,
    LATCHKEY,
    /** Latchkey with {@code localTurns}: threads of one client share a place in the queue. */
    LATCHKEY_TURNS,
    CURATOR,
    /** Redisson's fair lock. */
    REDISSON_FAIR,
    /** Redisson's lock with fencing tokens. */
    REDISSON_FENCED,
    /** The mutex of etcd, with jetcd. */
    JETCD;

    private static final int LOCAL_TURNS = 100;
    private static final Duration LONGEST = Duration.ofMillis(100);

    private static ZkLockClient.Builder builder(String servers, Duration session) {
        return ZkLockClient.builder().connectString(servers).sessionTimeout(session);
    }

    MeasuredClient connect(String servers) throws Exception {
        Duration session = MeasuredClient.SESSION;
        return switch (this) {
            case RAW -> new RawClient(servers, session);
            case BARE -> new BareClient(servers, session);
            case LATCHKEY -> new LatchkeyClient(builder(servers, session).build());
            case LATCHKEY_TURNS ->
                new LatchkeyClient(builder(servers, session)
                        .localTurns(LOCAL_TURNS, LONGEST)
                        .build());
            case CURATOR -> new CuratorClient(servers, session);
            case REDISSON_FAIR -> new RedissonClient(servers, session, true);
            case REDISSON_FENCED -> new RedissonClient(servers, session, false);
            case JETCD -> new EtcdClient(servers, session);
        };
    }

    /** The server product. */
    Product product() {
        return switch (this) {
            case RAW, BARE, LATCHKEY, LATCHKEY_TURNS, CURATOR -> Product.ZOOKEEPER;
            case REDISSON_FAIR, REDISSON_FENCED -> Product.REDIS;
            case JETCD -> Product.ETCD;
        };
    }

    /** The name in tables and records. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}

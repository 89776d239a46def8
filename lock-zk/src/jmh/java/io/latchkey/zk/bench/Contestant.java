// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.Locale;

/** Who is measured. */
enum Contestant {
    /** The limit: a sequential ephemeral node created and deleted, nothing read, nobody excluded. */
    RAW,
    /** The limit for this protocol: what Latchkey asks the servers, asked with ZooKeeper's own client. */
    BARE,
    LATCHKEY,
    /** The same, with turns among the threads of one client, which others wait for. */
    LATCHKEY_TURNS,
    CURATOR,
    /** The mutex of Redis that keeps the order. */
    REDISSON_FAIR,
    /** The mutex of Redis whose grants have tokens. */
    REDISSON_FENCED,
    /** The mutex of etcd's own, by jetcd. */
    JETCD;

    private static final int LOCAL_TURNS = 100;
    private static final Duration LONGEST = Duration.ofMillis(100);

    private static ZkLockClient.Builder builder(String servers, Duration session) {
        return ZkLockClient.builder().connectString(servers).sessionTimeout(session);
    }

    Client connect(String servers) throws Exception {
        return connect(servers, Client.SESSION);
    }

    Client connect(String servers, Duration session) throws Exception {
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

    /** What it talks to. */
    Product product() {
        return switch (this) {
            case RAW, BARE, LATCHKEY, LATCHKEY_TURNS, CURATOR -> Product.ZOOKEEPER;
            case REDISSON_FAIR, REDISSON_FENCED -> Product.REDIS;
            case JETCD -> Product.ETCD;
        };
    }

    /** As it stands in tables and records. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.SimulatedLocks.ClientBuilder;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/** Where a request comes in. */
enum Door {
    MUTEX,
    LOCAL_TURNS {
        @Override
        ClientBuilder described(ClientBuilder builder) {
            return builder.localTurns(3, Duration.ofSeconds(1));
        }
    },
    WRITE_IN_TURN {
        @Override
        ClientBuilder described(ClientBuilder builder) {
            return LOCAL_TURNS.described(builder);
        }

        @Override
        Acquirable asked(LockClient client) {
            return WRITE.asked(client);
        }

        @Override
        Optional<Lock> view(LockClient client) {
            return WRITE.view(client);
        }
    },
    READ_IN_TURN {
        @Override
        ClientBuilder described(ClientBuilder builder) {
            return LOCAL_TURNS.described(builder);
        }

        @Override
        Acquirable asked(LockClient client) {
            return READ.asked(client);
        }

        @Override
        Optional<Lock> view(LockClient client) {
            return READ.view(client);
        }

        @Override
        Acquirable blocker(LockClient client) {
            return WRITE.asked(client);
        }
    },
    PERMITS_IN_TURN {
        @Override
        ClientBuilder described(ClientBuilder builder) {
            return LOCAL_TURNS.described(builder);
        }

        @Override
        Acquirable asked(LockClient client) {
            return PERMITS.asked(client);
        }
    },
    MUTEX_BESIDE_CURATOR(Layout.CURATOR),
    MUTEX_BESIDE_KAZOO(Layout.KAZOO),
    WRITE {
        @Override
        Acquirable asked(LockClient client) {
            return client.readWriteLock("/rw").writeLock();
        }

        @Override
        Optional<Lock> view(LockClient client) {
            return Optional.of(client.readWriteLock("/rw").asReadWriteLock().writeLock());
        }
    },
    READ {
        @Override
        Acquirable asked(LockClient client) {
            return client.readWriteLock("/rw").readLock();
        }

        @Override
        Optional<Lock> view(LockClient client) {
            return Optional.of(client.readWriteLock("/rw").asReadWriteLock().readLock());
        }

        @Override
        Acquirable blocker(LockClient client) {
            return WRITE.asked(client);
        }
    },
    READ_BESIDE_CURATOR(Layout.CURATOR) {
        @Override
        Acquirable asked(LockClient client) {
            return READ.asked(client);
        }

        @Override
        Acquirable blocker(LockClient client) {
            return WRITE.asked(client);
        }
    },
    PERMITS {
        @Override
        Acquirable asked(LockClient client) {
            return client.semaphore("/s", 3).permits(2);
        }
    },
    PERMITS_IN_THE_LINE {
        @Override
        Acquirable asked(LockClient client) {
            return client.semaphore("/line", 9).permits(5);
        }
    },
    CURATORS_SEMAPHORE(Layout.CURATOR) {
        @Override
        Acquirable asked(LockClient client) {
            return client.semaphore("/s", 1);
        }
    },
    MULTI_LOCK {
        @Override
        Acquirable asked(LockClient client) {
            return client.multiLock(MUTEX.asked(client), READ.asked(client), PERMITS.asked(client));
        }

        @Override
        Acquirable blocker(LockClient client) {
            return client.multiLock(WRITE.asked(client), PERMITS.asked(client));
        }
    };

    private final Layout layout;

    Door() {
        this(Layout.LATCHKEY);
    }

    Door(Layout layout) {
        this.layout = layout;
    }

    ClientBuilder described(ClientBuilder builder) {
        return builder.layout(layout);
    }

    /** Whether a request that is given up stays in the queue while its client holds alone. */
    boolean keepsPlaceBehindItsOwn() {
        return this == LOCAL_TURNS || this == WRITE_IN_TURN || this == READ_IN_TURN;
    }

    Acquirable asked(LockClient client) {
        return client.mutex("/m");
    }

    /** The same as the JDK has it. */
    Optional<Lock> view(LockClient client) {
        return asked(client) instanceof Mutex mutex ? Optional.of(mutex.asLock()) : Optional.empty();
    }

    /** What keeps such a request waiting while it is held. */
    Acquirable blocker(LockClient client) {
        return asked(client);
    }
}

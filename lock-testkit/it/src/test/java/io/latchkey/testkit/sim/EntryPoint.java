// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.SimulatedLocks.ClientBuilder;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/** Where a request comes in. */
enum EntryPoint {
    MUTEX(Kind.MUTEX),
    LOCAL_TURNS(Kind.MUTEX, Way.IN_TURN),
    WRITE_IN_TURN(Kind.WRITE, Way.IN_TURN),
    READ_IN_TURN(Kind.READ, Way.IN_TURN),
    PERMITS_IN_TURN(Kind.PERMITS, Way.IN_TURN),
    MUTEX_BESIDE_CURATOR(Kind.MUTEX, Way.BESIDE_CURATOR),
    MUTEX_BESIDE_KAZOO(Kind.MUTEX, Way.BESIDE_KAZOO),
    WRITE(Kind.WRITE),
    READ(Kind.READ),
    READ_BESIDE_CURATOR(Kind.READ, Way.BESIDE_CURATOR),
    PERMITS(Kind.PERMITS),
    PERMITS_IN_THE_LINE(Kind.PERMITS_IN_THE_LINE),
    MULTI_LOCK(Kind.SEVERAL);

    /** What is asked for, at paths that end with a suffix. */
    private enum Kind {
        MUTEX,
        WRITE,
        READ,
        PERMITS,
        PERMITS_IN_THE_LINE,
        SEVERAL;

        Acquirable of(LockClient client, String suffix) {
            return switch (this) {
                case MUTEX -> client.mutex("/m" + suffix);
                case WRITE -> client.readWriteLock("/rw" + suffix).writeLock();
                case READ -> client.readWriteLock("/rw" + suffix).readLock();
                case PERMITS -> client.semaphore("/s" + suffix, 3).permits(2);
                case PERMITS_IN_THE_LINE ->
                    client.semaphore("/line" + suffix, 9).permits(5);
                case SEVERAL ->
                    client.multiLock(MUTEX.of(client, suffix), READ.of(client, suffix), PERMITS.of(client, suffix));
            };
        }
    }

    /** How its client is described. */
    private enum Way {
        PLAIN,
        IN_TURN,
        BESIDE_CURATOR,
        BESIDE_KAZOO
    }

    private final Kind kind;
    private final Way way;

    EntryPoint(Kind kind) {
        this(kind, Way.PLAIN);
    }

    EntryPoint(Kind kind, Way way) {
        this.kind = kind;
        this.way = way;
    }

    ClientBuilder described(ClientBuilder builder) {
        return switch (way) {
            case PLAIN -> builder;
            case IN_TURN -> builder.localTurns(3, Duration.ofSeconds(1));
            case BESIDE_CURATOR -> builder.layout(Layout.CURATOR);
            case BESIDE_KAZOO -> builder.layout(Layout.KAZOO);
        };
    }

    /** Whether a request that is given up stays in the queue while its client holds alone. */
    boolean keepsPlaceBehindItsOwn() {
        return way == Way.IN_TURN && kind != Kind.PERMITS;
    }

    /** Whether Latchkey's clients alone use its path: then holders can be asked to release, and capacities resized. */
    boolean isLatchkeysOwn() {
        return way == Way.PLAIN || way == Way.IN_TURN;
    }

    Acquirable asked(LockClient client) {
        return asked(client, "");
    }

    Acquirable asked(LockClient client, String suffix) {
        return kind.of(client, suffix);
    }

    /** The same as the JDK has it. */
    Optional<Lock> view(LockClient client) {
        return view(client, "");
    }

    Optional<Lock> view(LockClient client, String suffix) {
        return switch (kind) {
            case MUTEX -> Optional.of(client.mutex("/m" + suffix).asLock());
            case WRITE ->
                Optional.of(
                        client.readWriteLock("/rw" + suffix).asReadWriteLock().writeLock());
            case READ ->
                Optional.of(
                        client.readWriteLock("/rw" + suffix).asReadWriteLock().readLock());
            default -> Optional.empty();
        };
    }

    /** What keeps such a request waiting while it is held. */
    Acquirable blocker(LockClient client) {
        return blocker(client, "");
    }

    Acquirable blocker(LockClient client, String suffix) {
        return switch (kind) {
            case READ -> Kind.WRITE.of(client, suffix);
            case SEVERAL -> client.multiLock(Kind.WRITE.of(client, suffix), Kind.PERMITS.of(client, suffix));
            default -> kind.of(client, suffix);
        };
    }
}

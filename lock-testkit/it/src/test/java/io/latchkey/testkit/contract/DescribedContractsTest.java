// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.contract.LockFixture.Feature;
import io.latchkey.zk.Layout;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contracts again, for clients in another layout or with local turns. */
@Tag("once")
@Tag("long")
class DescribedContractsTest {
    /** A simulation of clients in a layout that others have, too. */
    private static final class SharedLayout extends ObservedFixture {
        SharedLayout(Layout layout) {
            super(builder -> builder.layout(layout));
        }

        @Override
        public Map<Feature, String> lacking() {
            return Map.of(
                    Feature.KINDS, "the path's data is its users' own",
                    Feature.ADMINISTRATION,
                            "other libraries do not know the node by which a holder is asked to release");
        }
    }

    /** Few turns, so that the end of a place comes within a test. */
    private static LockFixture withLocalTurns() {
        return new ObservedFixture(builder -> builder.localTurns(3, Duration.ofSeconds(1)));
    }

    @Nested
    class MutexesBesideCurator extends MutexContract {
        @Override
        protected LockFixture newFixture() {
            return new SharedLayout(Layout.CURATOR);
        }
    }

    @Nested
    class ReadWriteLocksBesideCurator extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() {
            return new SharedLayout(Layout.CURATOR);
        }
    }

    @Nested
    class LeasesBesideCurator extends LeaseContract {
        @Override
        protected LockFixture newFixture() {
            return new SharedLayout(Layout.CURATOR);
        }
    }

    @Nested
    class MutexesBesideKazoo extends MutexContract {
        @Override
        protected LockFixture newFixture() {
            return new SharedLayout(Layout.KAZOO);
        }
    }

    @Nested
    class ReadWriteLocksBesideKazoo extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() {
            return new SharedLayout(Layout.KAZOO);
        }
    }

    /** Without what needs a place in the queue and a token for each request: turns of one client share both. */
    @Nested
    class MutexesWithLocalTurns extends MutexContract {
        @Override
        protected LockFixture newFixture() {
            return withLocalTurns();
        }

        @Override
        void order() {}

        @Override
        void contenders() {}

        @Override
        void closedWhileWaiting() {}

        @Override
        void crowd() {}
    }

    @Nested
    class ReadWriteLocksWithLocalTurns extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() {
            return withLocalTurns();
        }

        @Override
        void order() {}

        @Override
        void closedWhileWaiting() {}

        @Override
        void servedInOrder() {}
    }

    @Nested
    class SemaphoresWithLocalTurns extends SemaphoreContract {
        @Override
        protected LockFixture newFixture() {
            return withLocalTurns();
        }

        @Override
        void order() {}

        @Override
        void closedWhileWaiting() {}
    }

    @Nested
    class LeasesWithLocalTurns extends LeaseContract {
        @Override
        protected LockFixture newFixture() {
            return withLocalTurns();
        }
    }
}

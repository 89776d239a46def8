// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Slowness;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Provides the tests of a class with a ZooKeeper server and with clients as parameters.
 *
 * <pre>{@code
 * @LatchkeyTest
 * class OrderServiceTest {
 *     @Test
 *     void survivesTheEndOfItsSession(FaultyClient one, FaultyClient two) throws Exception {
 *         Lease lease = one.client().mutex("/orders/42").acquire();
 *         one.expire(ExpiryOrder.SERVER_FIRST).get(10, TimeUnit.SECONDS);
 *         try (Lease next = two.client().mutex("/orders/42").acquire()) {
 *             assertTrue(next.token() > lease.token());
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>The servers start before the first test of the class and stop after the last, unless each test is to have
 * {@linkplain #lifetime its own}; nested classes share them. Nodes that a test leaves are visible to the next, so use
 * separate paths for each test. Parameters of these types are filled in, for tests, lifecycle methods and constructors:
 *
 * <ul>
 *   <li>{@link FaultyClient}: a new client with a session and a proxy of its own
 *   <li>{@link io.latchkey.lock.LockClient}: a new client with a session of its own
 *   <li>{@code String} with {@link ConnectString}: where clients of the servers connect
 *   <li>{@link ZooKeeperFixture}: the servers; {@link EmbeddedZooKeeper} or {@link EmbeddedEnsemble}, if that is what
 *       they are
 * </ul>
 *
 * <p>Clients made for a test are closed after it, in reverse order and with all faults ended first; those made for a
 * constructor or for {@code @BeforeAll} live until the end of the class. When a test fails, the traffic between its
 * faulty clients and the servers is attached to its exception. A client is called {@code client-3 (one)} there, by its
 * parameter, or {@code client-3 (parameter 1)} where names of parameters are not compiled in.
 *
 * <p>On a busy machine a client can be silent for so long that its session expires. So sessions are longer there:
 * {@link Slowness} stretches {@link #sessionMillis}. If a test does not depend on time, use 3000 or more.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(LatchkeyExtension.class)
public @interface LatchkeyTest {
    /** {@return how many servers the class has} */
    Servers servers() default Servers.ONE;

    /**
     * {@return the length of a tick in milliseconds; 0 for 100 with one server, 200 with three} Servers end sessions at
     * ticks, and let none be shorter than two.
     */
    int tickMillis() default 0;

    /**
     * {@return the timeout that the clients made for parameters ask for, in milliseconds, on an idle machine; two ticks
     * to 60 s}
     */
    int sessionMillis() default 1000;

    /**
     * {@return how each {@link FaultyClient} comes back after a disconnect: as slowly as in production, or in
     * milliseconds} A {@link io.latchkey.lock.LockClient} parameter is slow always.
     */
    Reconnects reconnects() default Reconnects.HONEST;

    /** {@return for how long the servers live, and so whether the tests of the class share them} */
    Lifetime lifetime() default Lifetime.CLASS;

    /** For how long servers live. */
    enum Lifetime {
        /** From before the first test of the class until after its last. */
        CLASS,
        /** Every test has servers of its own, with nothing on them; its constructor cannot have any. */
        METHOD
    }

    /** How many servers a test wants. */
    enum Servers {
        /** An {@link EmbeddedZooKeeper}: there in milliseconds. */
        ONE,
        /** An {@link EmbeddedEnsemble}: there in about a second. */
        THREE
    }
}

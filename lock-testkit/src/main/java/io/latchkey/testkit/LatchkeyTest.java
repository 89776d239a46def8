package io.latchkey.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a ZooKeeper of their own and clients of it as parameters.
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
 * <p>The servers start before the first test of the class and stop after the last; nested classes share them. What a test leaves on
 * them is there for the next, so use paths of its own for each. Parameters of these types are filled in, for tests, lifecycle methods
 * and constructors:
 *
 * <ul>
 *   <li>{@link FaultyClient}: a new client with a session and a proxy of its own
 *   <li>{@link io.latchkey.lock.LockClient}: a new client with a session of its own
 *   <li>{@link ZooKeeperFixture}: the servers; {@link EmbeddedZooKeeper} or {@link EmbeddedEnsemble}, if that is what they are
 * </ul>
 *
 * <p>Clients made for a test are closed after it, in reverse order and with all faults ended first; those made for a constructor or
 * for {@code @BeforeAll} live until the end of the class. When a test fails, what passed between its faulty clients and the servers
 * is attached to its exception.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(LatchkeyExtension.class)
public @interface LatchkeyTest {
    /** How many servers. */
    Servers servers() default Servers.ONE;

    /** The length of a tick in milliseconds; 0 for 100 with one server, 200 with three. Sessions are two ticks long at least. */
    int tickMillis() default 0;

    /** The timeout of the clients' sessions in milliseconds. */
    int sessionMillis() default 1000;

    /** How many servers a test wants. */
    enum Servers {
        /** An {@link EmbeddedZooKeeper}: there in milliseconds. */
        ONE,
        /** An {@link EmbeddedEnsemble}: there in about a second. */
        THREE
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import io.latchkey.lock.OnLoss;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * A method of a Spring bean that runs while a mutex is held. Calls with the same path and key exclude each other, in
 * all instances of the service.
 *
 * <pre>{@code
 * @Locked(path = "/billing/accounts", key = "#account")
 * @Transactional
 * public long charge(String account, long cents) {
 *     long token = lease.token(); // lease: the bean CurrentLease
 *     ...
 * }
 * }</pre>
 *
 * <ul>
 *   <li><b>Transactions.</b> The lock is acquired before the transaction of the method begins, and released after its
 *       commit. A caller that has a transaction is refused with an {@link IllegalStateException}: it would commit after
 *       the release.
 *   <li><b>A busy lock</b> is a {@link LockBusyException}. <b>Servers that do not answer</b> are a {@link
 *       io.latchkey.lock.LockServiceUnavailableException}. In both cases the method was not called.
 *   <li><b>Results.</b> If the method returns a {@link java.util.concurrent.CompletionStage}, the lock is held until
 *       that stage completes; the caller's stage completes after the release. With {@code @Async} the lock is acquired
 *       in the thread of the executor. Other results that go on after the return, such as those of reactive libraries,
 *       are refused when the application starts.
 *   <li><b>Calls from within the bean</b> do not pass its proxy and are not locked. Those that can be seen in the
 *       bytecode are refused when the application starts.
 *   <li><b>Nested calls</b> with the same path and key, in one thread, are refused with an {@link
 *       IllegalStateException}: leases are not re-entrant.
 * </ul>
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Locked {
    /**
     * The same as {@link #path}.
     *
     * @return the path
     */
    @AliasFor("path")
    String value() default "";

    /**
     * The path of the mutex; with a {@link #key}, the path above the mutexes of all keys. It may have placeholders, such
     * as <code>${billing.locks}/accounts</code>.
     *
     * @return the path
     */
    @AliasFor("value")
    String path() default "";

    /**
     * The key of a call as a SpEL expression over the parameters, such as {@code #account} or {@code #order.id}. The
     * mutex is then at {@code path/key-KEY}; characters that are not allowed in a path are encoded. Without a key, all
     * calls share one mutex at {@code path}.
     *
     * @return the expression; empty for no key
     */
    String key() default "";

    /**
     * How long a call waits for the lock at most, such as {@code 5s}, {@code 300ms} or {@code PT5S}. Zero does not wait
     * for other holders. It may be a placeholder.
     *
     * @return the time; if empty, that of the property {@code latchkey.locked.timeout}
     */
    String timeout() default "";

    /**
     * How long the lease is held at most, such as {@code 2m}: {@link io.latchkey.lock.Acquirable#heldAtMost}. Then the
     * lease is lost, and others may hold. The method itself goes on, unless {@link #onLoss} is {@code INTERRUPT}. It may
     * be a placeholder.
     *
     * @return the time; empty for no limit
     */
    String atMost() default "";

    /**
     * What happens to a running method when its lease is lost, by a limit or with the session: {@link
     * io.latchkey.lock.Acquirable#call(OnLoss, io.latchkey.lock.LeaseFunction)}. {@code INTERRUPT} is refused for a
     * method that returns a {@code CompletionStage}.
     *
     * @return what happens
     */
    OnLoss onLoss() default OnLoss.THROW;

    /**
     * What a call does when others have held the lock for the whole {@link #timeout}.
     *
     * @return what it does
     */
    IfBusy ifBusy() default IfBusy.THROW;
}

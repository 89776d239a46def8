/**
 * The demo, run by {@code mvn -q -Pdemo}. {@link io.latchkey.demo.Demo} has {@code main} and the list of scenarios, of
 * which each is one class, such as {@link io.latchkey.demo.Inventory}. The parts to read as examples:
 *
 * <ul>
 *   <li>{@code Shift}: how one client works under a lock, whichever it is ({@code underLock} and {@code LeaseHold});
 *   <li>{@code Inventory} (mutex), {@code SharedDocument} (read-write lock), {@code Workers} (semaphore),
 *       {@code Transfers} (multi-lock): its work. Without locks the work is the same.
 * </ul>
 */
@NullMarked
package io.latchkey.demo;

import org.jspecify.annotations.NullMarked;

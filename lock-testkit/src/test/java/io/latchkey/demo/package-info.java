/**
 * The demo, run by {@code mvn -q -Pdemo}. {@link io.latchkey.demo.Demo} has {@code main} and the list of scenarios, of
 * which each is one class, such as {@link io.latchkey.demo.Inventory}. The parts to read as examples:
 *
 * <ul>
 *   <li>{@code CarefulClient} and {@code LeaseHold}: how one client works under a lock, whichever it is;
 *   <li>{@code Clerk} (mutex), {@code Reader} and {@code Editor} (read-write lock), {@code Worker} (semaphore),
 *       {@code Teller} (multi-lock): its work. Without locks the work is the same.
 * </ul>
 */
@NullMarked
package io.latchkey.demo;

import org.jspecify.annotations.NullMarked;

/**
 * Requests, queues and suspected deadlocks, for people and programs that look at locks. {@link
 * io.latchkey.lock.Acquirable#queue}, {@link io.latchkey.lock.LockClient#listLocks} and {@link
 * io.latchkey.lock.LockClient#diagnose} return them. Code that only acquires locks needs none of these types.
 */
@NullMarked
package io.latchkey.lock.admin;

import org.jspecify.annotations.NullMarked;

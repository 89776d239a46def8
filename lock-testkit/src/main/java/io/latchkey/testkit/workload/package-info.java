/**
 * Work for locks as plain values: who takes which locks for how long, and which faults strike meanwhile. A {@link
 * io.latchkey.testkit.workload.Scenario} is drawn by {@link io.latchkey.testkit.jqwik.LatchkeyDomain} or written by hand, prints as
 * text, and is played on servers or in a simulation by {@link io.latchkey.testkit.workload.Play}, which records a history and checks it.
 */
@NullMarked
package io.latchkey.testkit.workload;

import org.jspecify.annotations.NullMarked;

/**
 * The demo, run by {@code mvn -q -Pdemo}. {@link io.latchkey.demo.Demo} has {@code main}; each scenario is one class, of which
 * {@link io.latchkey.demo.Inventory} is the first. {@code Clerk} is the part to read as an example: how one client works under a lock.
 */
@NullMarked
package io.latchkey.demo;

import org.jspecify.annotations.NullMarked;

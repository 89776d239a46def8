/**
 * Whether a history could have come from a lock that does one thing at a time: a search over the orders in which its operations may have
 * taken effect, and a small sequential model for each kind of lock. {@link io.latchkey.testkit.LinearizabilityChecker} runs it over
 * recorded histories; the parts are public for models of one's own.
 */
@NullMarked
package io.latchkey.testkit.linear;

import org.jspecify.annotations.NullMarked;

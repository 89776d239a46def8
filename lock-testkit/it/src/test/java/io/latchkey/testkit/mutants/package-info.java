/**
 * Seeded bugs in the protocol, and the hunt for them. A {@link io.latchkey.testkit.mutants.Mutant} is a name and a few
 * edits of the shipped sources. It is compiled in memory and loaded beside the real classes.
 */
package io.latchkey.testkit.mutants;

/**
 * Seeded bugs in the locks, and whether the kit catches them. A {@link io.latchkey.testkit.mutants.Mutant} is a name
 * and a few edits of the shipped sources; it is compiled in memory and loaded beside the real classes, and then
 * everything that should notice is let loose on it.
 */
package io.latchkey.testkit.mutants;

/**
 * Seeded bugs in the locks, and whether the kit catches them. A {@link io.latchkey.testkit.mutants.Mutant} is a name
 * and a few edits of the shipped sources. It is compiled in memory and loaded beside the real classes, and then all
 * killers run against it.
 */
package io.latchkey.testkit.mutants;

/**
 * What the locks log while they are tested: nothing of it is printed, and an error fails the test. Outside of the
 * packages that a mutant has of its own, since the logging API is shared with it.
 */
package io.latchkey.log;

/** The command line: a program of its own around the client, which no user of the library gets. */
@org.jspecify.annotations.NullMarked
package io.latchkey.cli;

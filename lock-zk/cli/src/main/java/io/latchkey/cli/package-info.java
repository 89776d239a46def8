/** The command line: a separate program that uses the client and is not part of the library. */
@org.jspecify.annotations.NullMarked
package io.latchkey.cli;

/** Examples of the pages in docs, compiled and run. */
package io.latchkey.examples;

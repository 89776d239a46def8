/** What docs/frameworks.md and docs/fencing.md show, compiled and run. */
package io.latchkey.examples;

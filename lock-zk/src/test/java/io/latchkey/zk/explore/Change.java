// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

/** What a step did to the server's tree that watches may see. */
sealed interface Change {
    record Resized(int path) implements Change {}

    /** Nodes came or went under the path. */
    record Moved(int path) implements Change {}

    record Word(Target node) implements Change {}

    record Gone(Target node, Ask.Manner manner) implements Change {}
}

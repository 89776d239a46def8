// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.explore.Ask.Data;
import io.latchkey.zk.explore.Ask.HeldBack;
import io.latchkey.zk.explore.Ask.Want;
import io.latchkey.zk.queue.NodeName;
import java.util.List;
import java.util.Optional;

/** What the server tells a session: answers, and what its watches saw. Answers of which nothing follows are left out. */
sealed interface Tell {
    record Created(int request, List<NodeName> names) implements Tell {}

    record DataRead(int path, Data data, Optional<HeldBack> heldBack) implements Tell {}

    record Listing(int path, int version, List<NodeName> nodes, List<Want> served) implements Tell {}

    /** A watch on a path's children is set, and these they were. */
    record Children(int path, List<NodeName> nodes, int generation) implements Tell {}

    /** A watch on a node is set: since when the node is there, and whether the word had been written before. */
    record Seen(Target node, int generation, int since, boolean word) implements Tell {}

    /** The word was written under a watch. */
    record Word(Target node) implements Tell {}

    /** Somebody came or went under the path. */
    record Moved(int path) implements Tell {}

    /** A watch on a path's data is set, and this was the data. */
    record Watched(int path, Data data, int generation) implements Tell {}

    /** A watch could not be set. */
    record NotThere(Target node, int generation) implements Tell {}

    record Deleted(List<Target> nodes) implements Tell {}

    /** The path's data changed. */
    record Resized(int path) implements Tell {}

    /** The node was deleted. */
    record Gone(Target node) implements Tell {}

    /** The node was marked and deleted by one transaction. */
    record Released(Target node) implements Tell {}
}

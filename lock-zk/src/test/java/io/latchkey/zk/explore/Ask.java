// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.queue.NodeName;
import java.util.List;
import java.util.Optional;

/** What a session asks of the server, with what it wants to know again when the answer is there. */
sealed interface Ask {
    record Create(int request, String id) implements Ask {}

    /** Reads a path's data. */
    record Read(int path, Optional<HeldBack> heldBack) implements Ask {}

    record ListQueue(int path, List<Want> served) implements Ask {}

    /** Reads a target's data or its children, and watches them. */
    record Watch(Target target, Kind kind, int generation) implements Ask {}

    record Unwatch(Target target) implements Ask {}

    /** Deletes whichever of the nodes are there, in one transaction, with or without the mark of a clean release. */
    record Delete(List<Target> nodes, Manner manner) implements Ask {}

    /** The kinds of watches of ZooKeeper. */
    enum Kind {
        DATA,
        CHILDREN
    }

    /** How a node is left. */
    enum Manner {
        MARKED,
        PLAIN
    }

    /** Writes the node's data once more, if it is there: who waits for its request to hold is told. */
    record Word(int request, Target node) implements Ask {}

    /** What the path's data says, since which version. */
    record Data(int version, int capacity, int largest) {}

    /** Who asked for a list: a member of a request, in that attempt. */
    record Want(int request, int member, String id) {}

    /** A list whose moment's capacity is not known yet. */
    record HeldBack(int version, List<NodeName> nodes, List<Want> served) {}
}

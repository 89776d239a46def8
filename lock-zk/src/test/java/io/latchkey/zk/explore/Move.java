// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import java.util.Arrays;

/** What a step does to the server and to the session that takes it, and what the watches of all others may see. */
final class Move {
    private static final int[] NOTHING = {};

    final int server;
    final int client;
    final int[] changes;

    Move(int server, int client, int... changes) {
        this.server = server;
        this.client = client;
        this.changes = changes;
    }

    /** Of a session by itself. */
    static Move within(int server, int client) {
        return new Move(server, client, NOTHING);
    }

    /** This, and then another of the same session. */
    Move then(Move next) {
        int[] all = Arrays.copyOf(changes, changes.length + next.changes.length);
        System.arraycopy(next.changes, 0, all, changes.length, next.changes.length);
        return new Move(next.server, next.client, all);
    }
}

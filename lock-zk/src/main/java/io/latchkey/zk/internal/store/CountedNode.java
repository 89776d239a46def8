// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import io.latchkey.zk.internal.queue.LockPath;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** A node of a session, or what would be one, in the ledger of the session's nodes, which guards it. */
final class CountedNode {
    /** The digits that the server adds to the name of a sequential node, with the sign after an overflow. */
    static final int SUFFIX = 11;

    private static final int DIGITS = 10;

    final String parent;
    /** The name, or the beginning of the name of a sequential node that no answer has shown. */
    String name;

    boolean sequential;
    /** Creations of it that have no answer yet. */
    int open;
    /** Whether an answer has shown it, and none that it is gone. */
    boolean there;
    /** Whether the answer to a creation of it was lost, and no other answer has shown what became of it. */
    boolean lost;
    /** Whether a list has shown that it was not created, so that it appears only if a server has kept its creation. */
    boolean late;
    /** When the last creation was sent, or the list that showed it. */
    long since;
    /** When the answer was lost. */
    long lostAt;
    /** Whether the sum has it. */
    boolean counts;

    CountedNode(String path, boolean sequential) {
        this.parent = parentOf(path);
        this.name = nameOf(path);
        this.sequential = sequential;
    }

    String path() {
        return parent + "/" + name;
    }

    /** Returns the bytes of its path, of the longest that it may have. */
    int bytes() {
        return Utf8.encodedLength(path()) + (sequential ? SUFFIX : 0);
    }

    boolean mayExist() {
        return there || lost || open > 0;
    }

    static String parentOf(String path) {
        return path.substring(0, Math.max(path.lastIndexOf('/'), 0));
    }

    static String nameOf(String path) {
        return LockPath.nameOf(path);
    }

    /** Returns the names that end with a number, by what is before the number. */
    static Map<String, String> byBeginning(Collection<String> names) {
        Map<String, String> byBeginning = new HashMap<>();
        for (String name : names) {
            int number = numberIn(name);
            if (number > 0) {
                byBeginning.put(name.substring(0, number), name);
                if (name.charAt(number - 1) == '-') {
                    // The sign of a number after the overflow, or the end of the beginning.
                    byBeginning.put(name.substring(0, number - 1), name);
                }
            }
        }
        return byBeginning;
    }

    private static int numberIn(String name) {
        int from = name.length() - DIGITS;
        for (int i = Math.max(from, 0); i < name.length(); i++) {
            if (name.charAt(i) < '0' || name.charAt(i) > '9') {
                return 0;
            }
        }
        return from;
    }
}

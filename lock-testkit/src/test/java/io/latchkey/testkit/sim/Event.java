// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.List;
import java.util.Set;

/**
 * One entry of a {@link History}: what a transaction changed.
 *
 * @param author the client whose transaction it was; {@link #OPERATOR} if somebody else's
 * @param changes what it did; nodes belong to {@link #sessionOf} their author
 */
record Event(int author, List<Tree.Effect> changes) {
    static final int OPERATOR = -1;

    /** Higher than any number of a session of the client that looks. */
    private static final long ELSEWHERE = 1_000;

    static Event of(int author, List<Tree.Effect> changes) {
        return new Event(
                author,
                changes.stream()
                        .map(change -> change instanceof Tree.Effect.Created created
                                ? new Tree.Effect.Created(
                                        created.path(),
                                        created.parent(),
                                        created.name(),
                                        created.data(),
                                        sessionOf(author))
                                : change)
                        .toList());
    }

    /** Whose a client's nodes are, as all others see it: nobody asks which of its sessions it is. */
    private static long sessionOf(int author) {
        return ELSEWHERE * (author + 1);
    }

    /** Whether the session is one of those that all others are. */
    static boolean isElsewhere(long session) {
        return session >= ELSEWHERE || session == sessionOf(OPERATOR);
    }

    /** What of it a client sees that uses these paths. */
    void addTo(Fingerprint print, Set<String> paths) {
        print.add(author);
        for (Tree.Effect change : at(paths)) {
            print.add(change.path());
            if (change instanceof Tree.Effect.Created created) {
                print.add(created.data());
                print.add(created.owner());
            } else if (change instanceof Tree.Effect.DataSet set) {
                print.add(set.data());
            } else {
                print.add(-1);
            }
        }
    }

    /** What of it concerns nodes below these paths. */
    List<Tree.Effect> at(Set<String> paths) {
        return seen(changes, paths);
    }

    /** What of these concerns nodes below these paths. */
    static List<Tree.Effect> seen(List<Tree.Effect> changes, Set<String> paths) {
        boolean all = true;
        for (int i = 0; i < changes.size() && all; i++) {
            all = paths.contains(Tree.parent(changes.get(i).path()));
        }
        return all
                ? changes
                : changes.stream()
                        .filter(change -> paths.contains(Tree.parent(change.path())))
                        .toList();
    }

    /** By what two events are the same. */
    String name() {
        StringBuilder name = new StringBuilder().append(author);
        for (Tree.Effect change : changes) {
            name.append(change);
            if (change instanceof Tree.Effect.DataSet set) {
                name.append(set.data().length);
            }
        }
        return name.toString();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.queue.PathData;
import java.time.Duration;

/** What the shell's errors say: what happened, to which path, what is true now, what to do. */
final class Errors {
    /** What a list holds of the shortest request's name, with its length. */
    private static final int SHORTEST_ENTRY = 36;

    private Errors() {}

    static String outOfReach(String path, Duration waited) {
        return "No answer from the ZooKeeper servers within " + waited.toMillis() + " ms while acquiring " + path
                + ". Nothing is held; a request that may have reached them is withdrawn once they can be reached."
                + " Check that the servers run and the connect string names them.";
    }

    static AccessDeniedException denied(String path, String what, Answer<?> answer) {
        return new AccessDeniedException("The server refused this client to " + what + " at " + path + " ("
                + answer.detail() + "). Nothing was changed. Check the ACL of the path and of the levels above it,"
                + " and the client's auth.");
    }

    static LockException ephemeralParent(String path) {
        return new LockException("A level above " + path + " is an ephemeral node, which cannot have children."
                + " Nothing is held. Choose a path outside of it.");
    }

    static LockMismatchException mismatch(String path, PathData asked, byte[] found) {
        String is = PathData.describe(found);
        return new LockMismatchException(
                "Asked for a " + asked.describe() + " at " + path + ", but that path is used as: " + is
                        + ". Nothing was changed. Use another path, or the same recipe with the same permits as the"
                        + " others.",
                asked.describe(),
                is);
    }

    /** On a path whose data says nothing of Latchkey's, its children tell. */
    static LockMismatchException mismatch(String path, PathData asked, String otherUse) {
        return new LockMismatchException(
                "Asked for a " + asked.describe() + " at " + path + ", but there stands a request of " + otherUse
                        + ", which would not be waited for, nor would it wait. Nothing is held. Use another path, or the"
                        + " recipe and layout of the others: layout(...) at the client's builder, --layout on the command"
                        + " line.",
                asked.describe(),
                otherUse);
    }

    static LockMismatchException tooMany(String path, int asked, int capacity) {
        return new LockMismatchException(
                "Asked for " + PathData.permits(asked) + " of the semaphore " + path + ", whose capacity is " + capacity
                        + ". Nothing is held. Ask for fewer, or resize it.",
                PathData.permits(asked),
                "capacity " + capacity);
    }

    /** Whether a list of so many children, were they all requests, is longer than an answer may be. */
    static boolean exceedsAPacket(int children, int longestAnswer) {
        return (long) children * SHORTEST_ENTRY > longestAnswer;
    }

    static LockException tooLong(String path, ZooPort.NodeData node) {
        return new LockException("There are " + node.children() + " nodes under " + path
                + ": a list of them does not fit a packet of ZooKeeper (jute.maxbuffer), so nobody can see who is first."
                + " Nothing is held. Let fewer wait there, delete what does not belong there, or raise"
                + " jute.maxbuffer of all clients.");
    }

    static LockException notDowngraded(String path, Answer<?> answer) {
        return new LockException("The server refused to downgrade the write lease on " + path + " (" + answer.detail()
                + "). The write lease is as it was.");
    }

    /** Of a question that was refused or lost. */
    static LockException of(String path, String what, Answer<?> answer) {
        return switch (answer.code()) {
            case NO_AUTH -> denied(path, what, answer);
            case CONNECTION_LOSS, SESSION_EXPIRED, READ_ONLY -> unavailable(path, what);
            default -> refused(path, answer);
        };
    }

    static LockUnavailableException unavailable(String path, String what) {
        return new LockUnavailableException(
                "No answer from the ZooKeeper servers when asked to " + what + " of " + path + ". Try again.");
    }

    static LockException refused(String path, Answer<?> answer) {
        return new LockException(
                "The server refused a request for " + path + " (" + answer.detail() + "). Nothing was changed.");
    }

    static LockException cannotRenew(String path, String why) {
        return new LockException(
                "The sequence counter of " + path + " is near its end and the path cannot be made anew: " + why
                        + ". Nothing is held. Delete the path when nobody uses it.");
    }

    static LockException noChroot(String path) {
        return new LockException("Cannot create " + path + ": the chroot of the ZooKeeper handle does not exist."
                + " Nothing is held. Create it.");
    }
}

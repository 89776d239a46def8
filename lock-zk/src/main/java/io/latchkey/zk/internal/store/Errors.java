// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.PrintableText;
import io.latchkey.zk.internal.threads.CallerWait;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The texts of errors, which state the event, the path, the situation now, and the remedy. Also the copies of errors
 * for single callers.
 */
public final class Errors {
    /** The bytes that a list needs for the shortest name of a request, including its length. */
    private static final int SHORTEST_ENTRY = 36;

    /** The characters of a node's path that a text shows. */
    private static final int LONGEST_NODE = 10_000;

    /** The server's code for a refusal by a quota, which the engine handles like other refusals. */
    private static final String QUOTA = KeeperException.Code.QUOTAEXCEEDED.name();

    private Errors() {}

    /**
     * What the servers are asked for, for texts.
     *
     * @param what the action: "read the queue"
     * @param changes whether it changes anything, so that it may have been done if no answer comes
     */
    public record Purpose(String what, boolean changes) {
        public static Purpose toSee(String what) {
            return new Purpose(what, false);
        }

        public static Purpose toChange(String what) {
            return new Purpose(what, true);
        }
    }

    // ---- copies for callers

    /**
     * Returns the error for one caller. It has the type and message of {@code original}, the stack of the current
     * thread, and {@code original} as its cause. Every error leaves the engine through here. The original was created
     * on another thread, and several callers may share it: its stack names none of them, and all would see what one of
     * them adds to it.
     */
    public static RuntimeException own(Throwable original) {
        String message = String.valueOf(original.getMessage());
        RuntimeException own;
        if (original instanceof LockMismatchException mismatch) {
            own = new LockMismatchException(message, mismatch.reason(), mismatch.requested(), mismatch.found());
        } else if (original instanceof LeaseLostException loss) {
            own = new LeaseLostException(message, loss.lossCause());
        } else if (original instanceof LockServiceUnavailableException unavailable) {
            own = new LockServiceUnavailableException(message, unavailable.reason());
        } else if (original instanceof LockTimeoutException timeout) {
            own = new LockTimeoutException(message, timeout.reason());
        } else if (original instanceof AccessDeniedException) {
            own = new AccessDeniedException(message);
        } else if (original instanceof ClientClosedException) {
            own = new ClientClosedException(message);
        } else if (original instanceof SessionExpiredException) {
            own = new SessionExpiredException(message);
        } else if (original instanceof LockException refusal) {
            own = new LockException(message, refusal.reason());
        } else {
            own = new IllegalStateException(message);
        }
        Throwable unused = own.initCause(original);
        return own;
    }

    /**
     * Returns the value of a complete answer to the caller that waited for it; throws its error as that of the caller.
     */
    public static <T extends @Nullable Object> T valueOf(CompletableFuture<T> complete) {
        try {
            return CallerWait.valueOf(complete);
        } catch (ExecutionException failed) {
            throw own(Objects.requireNonNull(failed.getCause(), "failed without a cause"));
        }
    }

    // ---- texts

    public static String outOfReach(String path, Duration waited) {
        return "No answer from the ZooKeeper servers within " + waited.toMillis() + " ms while acquiring " + path
                + ". Nothing is held; a request that may have reached them is withdrawn once they can be reached."
                + " Check that the servers run, the connect string names them, and they do not throttle requests.";
    }

    /** Returns the error for a timed call that got no lease. */
    public static LockTimeoutException timedOut(String path, Duration timeout, Reason reason) {
        String why =
                switch (reason) {
                    case HELD_BY_OTHERS -> "other requests were ahead; queue() shows them";
                    case THROTTLED -> "the servers put the request off, as they had too many. Try again later";
                    default ->
                        "no server had answered. Check that the servers run and the connect string names them; the client"
                                + " keeps trying to connect";
                };
        return new LockTimeoutException(
                "Not acquired within " + timeout.toMillis() + " ms: " + path + ". Nothing is held, and the request is"
                        + " withdrawn. When the time ended, " + why + ".",
                reason);
    }

    /** Returns the error for a client whose login the servers refuse. */
    public static AccessDeniedException loginRefused() {
        return new AccessDeniedException("ZooKeeper refused the login of this client. The client holds no lease."
                + " Check scheme and credentials, then create a new client.");
    }

    private static AccessDeniedException denied(String path, String what, Response<?> answer) {
        return new AccessDeniedException("The server refused this client to " + what + " at " + path + " ("
                + answer.detail() + "). Nothing was changed. Check the ACL of the path and of the levels above it,"
                + " and the client's auth.");
    }

    public static LockException ephemeralParent(String path) {
        return new LockException(
                "A level above " + path + " is an ephemeral node, which cannot have children."
                        + " Nothing is held. Choose a path outside of it.",
                Reason.EPHEMERAL_PARENT);
    }

    public static LockMismatchException mismatch(String path, PathData asked, byte[] found) {
        String is = PathData.describe(found);
        Optional<PathData> known = PathData.parse(found);
        Reason reason;
        String cure;
        if (known.isEmpty()) {
            reason = Reason.UNKNOWN_DATA;
            cure = "Use another path, or a later version of this client if another one wrote it.";
        } else if (known.get().kind() != asked.kind()) {
            reason = Reason.DIFFERENT_KIND;
            cure = "Use another path, or the same recipe as the others.";
        } else {
            reason = Reason.DIFFERENT_PERMITS;
            cure = "All clients declare the same number. To change the number of a path in use, call resize("
                    + asked.declared() + ") and go on declaring " + known.get().declared() + ".";
        }
        return new LockMismatchException(
                "Asked for a " + asked.describe() + " at " + path + ", but that path is used as: " + is
                        + ". Nothing was changed. " + cure,
                reason,
                asked.describe(),
                is);
    }

    /** Returns the error for a list of a lock whose format this version does not know. */
    public static LockMismatchException unknownData(String path, byte[] found) {
        String is = PathData.describe(found);
        return new LockMismatchException(
                "The path " + path + " is used as: " + is + ". Use a later version of this client.",
                Reason.UNKNOWN_DATA,
                "list the locks",
                is);
    }

    /** Returns the error for a path whose children show another use than its data. */
    public static LockMismatchException mismatch(String path, PathData asked, OtherUse otherUse) {
        return new LockMismatchException(
                "Asked for a " + asked.describe() + " at " + path + ", but the path already contains a request of "
                        + otherUse.of()
                        + ". The two do not see each other, so both clients could hold the lock. Nothing"
                        + " is held. Use another path, or the recipe and layout of the others: layout(...) at the client's"
                        + " builder, --layout on the command line.",
                otherUse.ofSameLayout() ? Reason.DIFFERENT_KIND : Reason.DIFFERENT_LAYOUT,
                asked.describe(),
                otherUse.of());
    }

    /** Returns the log line for a path with two uses. A holder reads no list, so only the log reports it. */
    public static String usedTwice(String path, long leases, OtherUse otherUse) {
        return "The path " + path + " is in use by two kinds of lock that do not see each other: its child \""
                + PrintableText.printable(otherUse.node(), PrintableText.LONGEST) + "\" belongs to " + otherUse.of()
                + ". Both can be held at the same time, since only Latchkey's clients check for that."
                + (leases == 0 ? "" : " The leases of this client on it (" + leases + ") stay valid.")
                + " Requests of this client for it fail, also those that wait already."
                + " Use another path, or the recipe and layout of the others: layout(...) at the client's builder,"
                + " --layout on the command line. Logged once for each path.";
    }

    public static LockMismatchException tooMany(String path, int asked, int capacity) {
        return new LockMismatchException(
                "Asked for " + PathData.permits(asked) + " of the semaphore " + path + ", whose capacity is " + capacity
                        + ". Nothing is held. Ask for fewer, or resize it.",
                Reason.TOO_MANY_PERMITS,
                PathData.permits(asked),
                "capacity " + capacity);
    }

    /**
     * Returns whether a list of this many children may be longer than a response can be, if all of them are requests.
     */
    public static boolean exceedsAPacket(int children, int longestAnswer) {
        return (long) children * SHORTEST_ENTRY > longestAnswer;
    }

    /** Returns the error for {@link Status#TOO_LONG}, whose detail is the number of children. */
    private static LockException tooLong(String path, Response<?> answer) {
        return new LockException(
                "There are " + answer.detail() + " nodes under " + path
                        + ". A list of them does not fit ZooKeeper's packet (jute.maxbuffer), or breaks the connection, so no"
                        + " client can see which request is first. Nothing is held. Let fewer requests wait there, delete nodes"
                        + " that are not requests, or raise jute.maxbuffer for all clients.",
                Reason.QUEUE_TOO_LONG);
    }

    /** Returns the error for {@link Status#SESSION_FULL}, whose detail says how full it is. */
    private static LockException sessionFull(String path, Response<?> answer) {
        return new LockException(
                "The session of this client is full: it may create no more nodes, as asked for at " + path
                        + ". The paths of those that it may have need " + answer.detail()
                        + ", each with its chroot and 4 bytes. The servers end a session by one transaction with all of"
                        + " them; if that exceeds jute.maxbuffer, they do not start again. Nothing was sent, and nothing is"
                        + " held by this request. Use several clients, shorter paths, or fewer locks at a time; or raise"
                        + " sessionNodeBytes(...) at the client's builder and jute.maxbuffer of all servers together.",
                Reason.SESSION_FULL);
    }

    public static LockException unreadable(String path, List<ZnodeStore.CreatedNode> nodes) {
        return new LockException("The server created requests for " + path
                + " with names that this version cannot read: "
                + nodes.stream().map(ZnodeStore.CreatedNode::name).toList() + ". They are deleted, and nothing is held."
                + " Look for a proxy between this client and the servers that changes paths.");
    }

    /** Returns the error for an action on a node that is named as a request but belongs to no session. */
    public static LockException persistentRequest(String node) {
        return new LockException(PrintableText.printable(node, LONGEST_NODE)
                + " is a persistent node, so it is not the request of a client, and it may be data of an application."
                + " Nothing was sent. Requests behind it in the queue wait for it because of its name. If nobody needs"
                + " it, delete it by its path with a tool of ZooKeeper.");
    }

    public static LockException notDowngraded(String path, Response<?> answer) {
        boolean open = answer.code().outcome() == Status.Outcome.OPEN;
        return new LockException("The server refused to downgrade the write lease on " + path + " (" + answer.detail()
                + "). " + (open ? effect(answer) : "The write lease is unchanged."));
    }

    /** Returns the error for a question that was refused or lost. */
    public static LockException of(String path, Purpose asked, Response<?> answer) {
        return switch (answer.code()) {
            case NO_AUTH -> denied(path, asked.what(), answer);
            case TOO_LONG -> tooLong(path, answer);
            case SESSION_FULL -> sessionFull(path, answer);
            case CONNECTION_LOSS, SESSION_EXPIRED -> unavailable(path, asked);
            case READ_ONLY -> unavailable(path, Purpose.toSee(asked.what()));
            default -> refused(path, answer);
        };
    }

    /** Returns the error for a question without an answer, or without all of it. */
    public static LockServiceUnavailableException unavailable(String path, Purpose asked) {
        return new LockServiceUnavailableException("No complete answer from the ZooKeeper servers when asked to "
                + asked.what() + " of " + path + ", or none but that they throttle requests. "
                + (asked.changes() ? "It may have been done, or may still be. Look, and try again." : "Try again."));
    }

    static LockException refused(String path, Response<?> answer) {
        return new LockException(
                "The server refused a request for " + path + " (" + answer.detail() + "). " + effect(answer),
                answer.detail().equals(QUOTA) ? Reason.QUOTA_EXCEEDED : Reason.OTHER);
    }

    /** Returns what is true of a request that was not carried out, or perhaps was. */
    private static String effect(Response<?> answer) {
        return switch (answer.code().outcome()) {
            case REFUSED -> "Nothing was changed.";
            case NOT_EXECUTED -> "Nothing was changed. Try again.";
            case DONE, OPEN ->
                "This code leaves it open whether the server carried it out before." + " Look at the server's log.";
        };
    }

    public static LockException cannotRenew(String path, String why) {
        return new LockException(
                "The sequence counter of " + path
                        + " is near its end and the path cannot be deleted and created again: " + why
                        + ". Nothing is held. Delete the path when it is empty.",
                Reason.COUNTER_EXHAUSTED);
    }

    public static LockException noChroot(String path) {
        return new LockException(
                "Cannot create " + path + ": the chroot of the ZooKeeper handle does not exist."
                        + " Nothing is held. Create it.",
                Reason.CHROOT_MISSING);
    }

    /** Returns the cause of a loss, with an explanation if its name does not say which side caused it. */
    public static String because(LossCause cause) {
        return cause == LossCause.NODE_DELETED
                ? cause + ": an operator deleted its node, as 'evict' does"
                : cause.name();
    }
}

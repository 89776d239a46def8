// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.BadPathException;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PrintableText;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The checks of paths that users pass. */
public final class LockPaths {
    /**
     * The maximum length of a path. A transaction names a path up to four times, with a base path before it, and has to
     * fit ZooKeeper's packet of 1 MB.
     */
    private static final int LONGEST = 10_000;
    /** The number of a path's characters that an error shows. */
    private static final int SHOWN = 200;

    private LockPaths() {}

    /**
     * Returns the path if it can name a lock.
     *
     * @throws BadPathException if it cannot; the message says why
     */
    public static String check(String path) {
        return check(path, true);
    }

    /**
     * Returns the path if locks can be below it; empty for the root.
     *
     * @throws BadPathException if it is not a path
     */
    static String checkRoot(String path) {
        return Objects.requireNonNull(path, "root").equals("/") ? "" : check(path, false);
    }

    /**
     * Checks a path that was found at the servers.
     *
     * @throws BadPathException if it cannot name a lock; the message says why
     */
    static void checkFound(String path) {
        objection(path, true).ifPresent(why -> {
            throw bad(path, why, "A lock there is not listed.");
        });
    }

    private static String check(String path, boolean namesLock) {
        objection(path, namesLock).ifPresent(why -> {
            throw bad(path, why, "Nothing was sent.");
        });
        return path;
    }

    private static Optional<String> objection(String path, boolean namesLock) {
        Objects.requireNonNull(path, "path");
        if (path.isEmpty() || path.charAt(0) != '/') {
            return Optional.of("it must begin with /");
        }
        if (path.length() == 1) {
            return Optional.of("the root cannot be a lock; use a path below it");
        }
        if (path.length() > LONGEST) {
            return Optional.of("it has " + path.length() + " characters; at most " + LONGEST + " are allowed");
        }
        if (path.endsWith("/")) {
            return Optional.of("it must not end with /");
        }
        for (String level : path.substring(1).split("/", -1)) {
            if (level.isEmpty()) {
                return Optional.of("it has an empty level (//)");
            }
            if (level.equals(".") || level.equals("..")) {
                return Optional.of("levels named . and .. are not allowed");
            }
            if (namesLock && readsAsRequest(level)) {
                return Optional.of("its level \"" + PrintableText.printable(level, SHOWN)
                        + "\" has the form of a request's name of Latchkey, Curator or kazoo, and"
                        + " a lock at the path above it would count it as a request. Append something to it");
            }
        }
        OptionalInt refused = path.chars().filter(LockPaths::refused).findFirst();
        if (refused.isPresent()) {
            return Optional.of(String.format("the character U+%04X is not allowed", refused.getAsInt()));
        }
        if (path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
            return Optional.of("/zookeeper belongs to the server");
        }
        return Optional.empty();
    }

    /**
     * Returns whether a node of this name would be in the queue of a lock above it, or would make that lock fail.
     * Levels may be keys from outside, and no key may do that. Names of all layouts are refused in each, since the lock
     * above may be of any.
     */
    private static boolean readsAsRequest(String level) {
        return NodeName.isRevocationNode(level)
                || Stream.of(Namings.LATCHKEY, Namings.CURATOR, Namings.KAZOO)
                        .anyMatch(naming -> naming.parse(level).isPresent());
    }

    /** Returns whether ZooKeeper refuses the character: control characters, surrogates, private use, specials. */
    private static boolean refused(int c) {
        return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
    }

    private static BadPathException bad(String path, String why, String effect) {
        return new BadPathException(
                "\"" + PrintableText.printable(path, SHOWN) + "\" is not a valid lock path: " + why + ". " + effect);
    }
}

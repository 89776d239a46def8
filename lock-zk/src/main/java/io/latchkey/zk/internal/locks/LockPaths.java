// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.BadPathException;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PrintableText;
import java.util.Objects;
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

    private static String check(String path, boolean namesLock) {
        Objects.requireNonNull(path, "path");
        if (path.isEmpty() || path.charAt(0) != '/') {
            throw bad(path, "it must begin with /");
        }
        if (path.length() == 1) {
            throw bad(path, "the root cannot be a lock; use a path below it");
        }
        if (path.length() > LONGEST) {
            throw bad(path, "it has " + path.length() + " characters; at most " + LONGEST + " are allowed");
        }
        if (path.endsWith("/")) {
            throw bad(path, "it must not end with /");
        }
        for (String level : path.substring(1).split("/", -1)) {
            if (level.isEmpty()) {
                throw bad(path, "it has an empty level (//)");
            }
            if (level.equals(".") || level.equals("..")) {
                throw bad(path, "levels named . and .. are not allowed");
            }
            if (namesLock && readsAsRequest(level)) {
                throw bad(
                        path,
                        "its level \"" + PrintableText.printable(level, SHOWN)
                                + "\" has the form of a request's name of Latchkey, Curator or kazoo, and"
                                + " a lock at the path above it would count it as a request. Append something to it");
            }
        }
        path.chars().filter(LockPaths::refused).findFirst().ifPresent(c -> {
            throw bad(path, String.format("the character U+%04X is not allowed", c));
        });
        if (path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
            throw bad(path, "/zookeeper belongs to the server");
        }
        return path;
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

    private static BadPathException bad(String path, String why) {
        return new BadPathException("\"" + PrintableText.printable(path, SHOWN) + "\" is not a valid lock path: " + why
                + ". Nothing was sent.");
    }
}

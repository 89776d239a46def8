// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

/**
 * The room on the stack of the current thread. A step on the thread of a caller that has used its stack up would end
 * with an error in the middle, and the state of the client would be unknown. So a caller's thread tries the room before
 * it begins anything, and another thread does the work if there is too little.
 *
 * <p>The trial is a recursion through as many bytes as the deepest step takes in interpreted code, about half of them
 * for the first run of a lambda. It takes one to three microseconds.
 */
public final class StackRoom {
    private static final int FRAMES = 200;
    /** What a thread pool needs to take a task, the start of a thread included. */
    private static final int FRAMES_OF_A_POOL = 60;
    /** The same, and what lies between the door of a call and that. */
    private static final int FRAMES_OF_A_CALL = 100;

    private StackRoom() {}

    /** Returns whether the stack has room for a step. */
    public static boolean isEnough() {
        return hasRoomFor(FRAMES);
    }

    private static boolean hasRoomFor(int frames) {
        try {
            return descend(frames, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) != 0;
        } catch (StackOverflowError used) {
            return false;
        }
    }

    /**
     * Checks the room before a call begins.
     *
     * @throws StackOverflowError if the stack has too little room: nothing has begun, and nothing was sent
     */
    public static void check() {
        if (!isEnough()) {
            throw new StackOverflowError(
                    "too little room on the stack of this thread to acquire a lock; nothing was sent");
        }
    }

    /**
     * Checks that a call can leave its work to another thread. A stack that ends inside of a thread pool leaves the locks
     * of the pool held for ever.
     *
     * @throws StackOverflowError if the stack has too little room even for that: nothing has begun
     */
    public static void checkForAPool() {
        check(FRAMES_OF_A_POOL);
    }

    /**
     * Checks the same before a call that changes something first and leaves its work afterwards: it must not fail in
     * between.
     *
     * @throws StackOverflowError if the stack has too little room: nothing has begun
     */
    public static void checkForACall() {
        check(FRAMES_OF_A_CALL);
    }

    private static void check(int frames) {
        if (!hasRoomFor(frames)) {
            throw new StackOverflowError(
                    "too little room on the stack of this thread for a call of the lock client, and"
                            + " even to leave it to another thread; nothing was done");
        }
    }

    /** The arguments are used behind the call, so each frame keeps all of them. */
    private static long descend(
            int left, long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) {
        if (left == 0) {
            return a;
        }
        long below = descend(left - 1, b, c, d, e, f, g, h, i, j, k, l, a);
        return (below ^ a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l) | 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

/**
 * How a store keeps out writers whose time is over: it remembers the highest fencing token that it has seen, and
 * refuses all below. A stand-in for a database in tests, and a pattern for real ones, where the two lines of
 * {@link #admit} are a column and a condition: {@code UPDATE ... SET token = ? WHERE id = ? AND token <= ?}, and no row
 * updated means refused.
 *
 * <p>Reads count as well as writes. If only writes did, a holder whose lease is lost could still write after its
 * successor has read and before it has written, and the successor would then overwrite that write without having seen
 * it.
 *
 * <pre>{@code
 * try (Lease lease = mutex.acquire()) {
 *     Order order = store.read(lease.token());
 *     store.write(order.paid(), lease.token());
 * }
 * }</pre>
 *
 * @param <V> what it keeps
 */
public final class FencedStore<V> {
    private V value;
    private long highest;

    /**
     * A store that has seen no token.
     *
     * @param value what it keeps at first
     */
    public FencedStore(V value) {
        this.value = value;
    }

    /**
     * What is kept, for a holder that is going to write. From now on all lower tokens are refused.
     *
     * @param token the lease's {@link io.latchkey.lock.Lease#token()}
     * @return what was written last
     * @throws StaleTokenException if a higher token has been here
     */
    public synchronized V read(long token) {
        admit(token);
        return value;
    }

    /**
     * Replaces what is kept. From now on all lower tokens are refused.
     *
     * @param next what is kept from now on
     * @param token the lease's {@link io.latchkey.lock.Lease#token()}
     * @throws StaleTokenException if a higher token has been here; nothing is written then
     */
    public synchronized void write(V next, long token) {
        admit(token);
        value = next;
    }

    /** {@return the stored value, without a check of tokens} */
    public synchronized V look() {
        return value;
    }

    private void admit(long token) {
        if (token < highest) {
            throw new StaleTokenException(token, highest);
        }
        highest = token;
    }

    /** Thrown for a token below the highest: its lease has ended. */
    public static final class StaleTokenException extends RuntimeException {
        private static final long serialVersionUID = 1;

        StaleTokenException(long token, long highest) {
            super("token " + token + " is too old: " + highest + " has been here");
        }
    }
}

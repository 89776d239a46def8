// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * The client that made a request, by its own account: the values are claims, which are not verified. Label and host
 * have at most 256 characters, all of them printable; any other claim is ignored.
 *
 * @param label the label of the request ({@link Acquirable#labelled}), or else that of its client; empty if it has
 *     none, or it cannot be read
 * @param host the name of its machine; empty if it cannot be read
 * @param processId the id of its process on that machine; 0 if it cannot be read
 */
public record Owner(String label, String host, long processId) {
    /**
     * Makes an owner.
     *
     * @param label the label
     * @param host the name of the machine
     * @param processId the id of the process
     */
    public Owner {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(host, "host");
    }

    /** {@return the owner in a few words, for people} */
    @Override
    public String toString() {
        return (label.isEmpty() ? "a client" : label) + " (" + host + ", process " + processId + ")";
    }
}

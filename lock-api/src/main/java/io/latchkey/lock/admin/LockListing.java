// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.admin;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The locks at and below a path; see {@link LockClient#listLocks}.
 *
 * @param locks the locks, each before those below it, siblings in alphabetical order
 * @param unreadable the paths that are not listed, in the same order, each with the reason: locks there and below, if
 *     there are any, are missing from {@code locks}. Reasons are a lack of rights, a limit of the search, no answer of
 *     a server in time, a connection that breaks whenever the node is read, data of a later version of Latchkey, and a
 *     path that cannot name a lock
 */
public record LockListing(List<LockSummary> locks, Map<String, LockException> unreadable) {
    /**
     * Makes a listing with copies.
     *
     * @param locks the locks
     * @param unreadable the paths that are not listed
     */
    public LockListing {
        locks = List.copyOf(locks);
        unreadable = Collections.unmodifiableMap(new LinkedHashMap<>(unreadable));
    }

    /** {@return whether no path is missing} */
    public boolean isComplete() {
        return unreadable.isEmpty();
    }

    /** {@return a line for each lock and each path that is not listed, for people} */
    @Override
    public String toString() {
        Stream<String> missing = unreadable.entrySet().stream()
                .map(each ->
                        "not listed: " + each.getKey() + ": " + each.getValue().getMessage());
        return Stream.concat(locks.stream().map(LockSummary::toString), missing).collect(Collectors.joining("\n"));
    }
}

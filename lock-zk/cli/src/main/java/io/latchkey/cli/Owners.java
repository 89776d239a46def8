// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.Owner;
import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Texts about the owners of requests, for messages. They are claims of clients, and are not made harmless here. */
final class Owners {
    /** Stands for an owner whose data this client cannot read. */
    static final String UNREADABLE = "a client that cannot be read";

    private Owners() {}

    /** Returns host, process and label; empty if none can be read. */
    static String text(Owner owner) {
        String process = owner.processId() == 0 ? "" : "process " + owner.processId();
        return Stream.of(owner.host(), process, owner.label())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
    }

    /** Returns a request as {@code the holder with token 7 at /path: host, process 1, label}. */
    static String described(Contender request, String path) {
        String role = request.state() == Contender.State.HOLDING ? "holder" : "waiter";
        String owner = text(request.owner());
        return "the " + role + " with token " + request.token() + " at " + path + (owner.isEmpty() ? "" : ": " + owner);
    }

    /** Returns the holder for the message that a lock was not free. */
    static String holder(Contender request, Instant now) {
        String owner = text(request.owner());
        Duration age = Age.of(request.requestedAt(), now);
        return "held by " + (owner.isEmpty() ? UNREADABLE : owner) + " (token " + request.token()
                + (age == null ? "" : ", asked " + Age.text(age) + " ago") + ")";
    }

    /** Returns the id of a session as servers' logs show it; empty if it cannot be read. */
    static String session(long id) {
        return id == 0 ? "" : "0x" + Long.toHexString(id);
    }
}

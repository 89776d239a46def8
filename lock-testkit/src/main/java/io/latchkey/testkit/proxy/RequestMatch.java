// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.WireRecord.Request;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * A predicate on requests, for the faults and counts of {@link FaultProxy} and {@link Wire}:
 * {@code create().under("/orders")}. None matches the upkeep of the session (connect, ping, orderly end) unless it is
 * made with {@link #of(String, Predicate)}. Immutable: methods return new predicates.
 */
public final class RequestMatch {
    private final String description;
    private final Predicate<Request> predicate;

    private RequestMatch(String description, Predicate<Request> predicate) {
        this.description = description;
        this.predicate = predicate;
    }

    /**
     * {@return requests by any property of theirs, upkeep of the session included}
     *
     * @param description a name for them in messages
     * @param predicate true for those that are meant; called on the proxy's thread, so it must not block. If it throws,
     *     the fault fails with that
     */
    public static RequestMatch of(String description, Predicate<Request> predicate) {
        return new RequestMatch(
                Objects.requireNonNull(description, "description"), Objects.requireNonNull(predicate, "predicate"));
    }

    /** {@return every request but upkeep, heartbeats included} */
    public static RequestMatch any() {
        return of("any request", request -> !request.op().isUpkeep());
    }

    /**
     * {@return requests of one kind, alone or as part of a multi}
     *
     * @param op what they ask for
     */
    public static RequestMatch op(WireRecord.Op op) {
        return of(op.name(), request -> request.does(op));
    }

    /** {@return creates in any of their forms, alone or as part of a multi} */
    public static RequestMatch create() {
        return of(
                "create",
                request -> request.op().creates()
                        || request.parts().stream().anyMatch(part -> part.op().creates()));
    }

    /** {@return deletes, alone or as part of a multi} */
    public static RequestMatch delete() {
        return op(WireRecord.Op.DELETE);
    }

    /** {@return changes of data, alone or as part of a multi} */
    public static RequestMatch setData() {
        return op(WireRecord.Op.SET_DATA);
    }

    /** {@return lists of children in either form, alone or together} */
    public static RequestMatch list() {
        return of(
                "list",
                request -> request.op().lists()
                        || request.parts().stream().anyMatch(part -> part.op().lists()));
    }

    /** {@return reads of data, with or without a watch} */
    public static RequestMatch getData() {
        return op(WireRecord.Op.GET_DATA);
    }

    /** {@return looks whether a node exists, with or without a watch} */
    public static RequestMatch exists() {
        return op(WireRecord.Op.EXISTS);
    }

    /** {@return transactions, heartbeats included} */
    public static RequestMatch multi() {
        return op(WireRecord.Op.MULTI);
    }

    /** {@return transactions of nothing but checks, see {@link Request#isHeartbeat()}} */
    public static RequestMatch heartbeat() {
        return of("heartbeat", Request::isHeartbeat);
    }

    /** {@return requests that leave a watch} */
    public static RequestMatch watching() {
        return of("watching request", Request::watch);
    }

    /**
     * {@return those of these requests that touch this node or one below it; a multi, if any part of it does}
     *
     * @param path absolute, with the client's chroot
     */
    public RequestMatch under(String path) {
        String below = path.endsWith("/") ? path : path + "/";
        return path("under " + path, touched -> touched.equals(path) || touched.startsWith(below));
    }

    /**
     * {@return those of these requests that touch a path which is meant; a multi, if any part of it does}
     *
     * @param wanted a name for these paths in messages
     * @param test true for a path that is meant; it gets paths with the client's chroot, empty where a request has
     *     none, and must not block. If it throws, the fault fails with that
     */
    public RequestMatch path(String wanted, Predicate<String> test) {
        return new RequestMatch(
                description + " " + wanted,
                request -> predicate.test(request)
                        && (test.test(request.path())
                                || request.parts().stream().anyMatch(part -> test.test(part.path()))));
    }

    /** {@return these requests without heartbeats} */
    public RequestMatch butHeartbeats() {
        return new RequestMatch(
                description + " but heartbeats", request -> !request.isHeartbeat() && predicate.test(request));
    }

    /**
     * {@return these requests and those}
     *
     * @param other those
     */
    public RequestMatch or(RequestMatch other) {
        return new RequestMatch(
                description + " or " + other.description,
                request -> predicate.test(request) || other.predicate.test(request));
    }

    /**
     * {@return whether the request is one of them}
     *
     * @param request from a {@link Wire}
     */
    public boolean matches(Request request) {
        return predicate.test(request);
    }

    /**
     * As {@link #matches(Request)}, for a thread that must go on if the predicate throws.
     *
     * @param request from a {@link Wire}
     * @param waiting what waits for such a request: completes exceptionally with what the predicate throws
     * @return whether the request is one of them; false if it is not known, or was not for an earlier request
     */
    public boolean matches(Request request, CompletableFuture<?> waiting) {
        try {
            return !waiting.isCompletedExceptionally() && predicate.test(request);
        } catch (Throwable thrown) {
            waiting.completeExceptionally(thrown);
            return false;
        }
    }

    @Override
    public String toString() {
        return description;
    }
}

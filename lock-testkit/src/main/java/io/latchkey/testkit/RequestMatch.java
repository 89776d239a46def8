package io.latchkey.testkit;

import io.latchkey.testkit.WireRecord.Request;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * Which requests a fault or a count is about. None matches the upkeep of the session (connect, ping, orderly end) unless it is made
 * with {@link #of(String, Predicate)}.
 */
public final class RequestMatch {
    private final String description;
    private final Predicate<Request> predicate;

    private RequestMatch(String description, Predicate<Request> predicate) {
        this.description = description;
        this.predicate = predicate;
    }

    /** Requests by any property of theirs, upkeep of the session included. */
    public static RequestMatch of(String description, Predicate<Request> predicate) {
        return new RequestMatch(
                Objects.requireNonNull(description, "description"), Objects.requireNonNull(predicate, "predicate"));
    }

    /** Every request but upkeep, heartbeats included. */
    public static RequestMatch any() {
        return of("any request", request -> !request.op().isUpkeep());
    }

    /** Requests of one kind, alone or as part of a multi. */
    public static RequestMatch op(WireOp op) {
        return of(op.name(), request -> request.does(op));
    }

    /** Creates in any of their forms, alone or as part of a multi. */
    public static RequestMatch create() {
        return of(
                "create",
                request -> request.op().creates()
                        || request.parts().stream().anyMatch(part -> part.op().creates()));
    }

    /** Deletes, alone or as part of a multi. */
    public static RequestMatch delete() {
        return op(WireOp.DELETE);
    }

    /** Changes of data, alone or as part of a multi. */
    public static RequestMatch setData() {
        return op(WireOp.SET_DATA);
    }

    /** Lists of children in either form. */
    public static RequestMatch list() {
        return of("list", request -> request.op().lists());
    }

    /** Reads of data, with or without a watch. */
    public static RequestMatch getData() {
        return op(WireOp.GET_DATA);
    }

    /** Looks whether a node exists, with or without a watch. */
    public static RequestMatch exists() {
        return op(WireOp.EXISTS);
    }

    /** Transactions, heartbeats included. */
    public static RequestMatch multi() {
        return op(WireOp.MULTI);
    }

    /** Transactions of nothing but checks, see {@link Request#isHeartbeat()}. */
    public static RequestMatch heartbeat() {
        return of("heartbeat", Request::isHeartbeat);
    }

    /** Requests that leave a watch. */
    public static RequestMatch watching() {
        return of("watching request", Request::watch);
    }

    /** These requests, if they touch this node or one below it; for a multi, if any part does. */
    public RequestMatch under(String path) {
        String below = path.endsWith("/") ? path : path + "/";
        return path("under " + path, touched -> touched.equals(path) || touched.startsWith(below));
    }

    /** These requests, if they touch a path that the test accepts; for a multi, if any part does. */
    public RequestMatch path(String wanted, Predicate<String> test) {
        return new RequestMatch(
                description + " " + wanted,
                request -> predicate.test(request)
                        && (test.test(request.path())
                                || request.parts().stream().anyMatch(part -> test.test(part.path()))));
    }

    /** These requests without heartbeats. */
    public RequestMatch butHeartbeats() {
        return new RequestMatch(
                description + " but heartbeats", request -> !request.isHeartbeat() && predicate.test(request));
    }

    /** These requests and those. */
    public RequestMatch or(RequestMatch other) {
        return new RequestMatch(
                description + " or " + other.description,
                request -> predicate.test(request) || other.predicate.test(request));
    }

    /** Whether this request is one of them. */
    public boolean matches(Request request) {
        return predicate.test(request);
    }

    @Override
    public String toString() {
        return description;
    }
}

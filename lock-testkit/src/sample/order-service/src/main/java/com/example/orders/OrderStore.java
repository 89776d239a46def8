package com.example.orders;

import java.util.HashMap;
import java.util.Map;

/** Where orders lie, as a database would keep them: with the highest fencing token that it has seen for each. */
public final class OrderStore {
    private record Row(String text, long token) {}

    private final Map<Integer, Row> rows = new HashMap<>();

    /** The order's text for somebody who only looks; empty if there is none. */
    public synchronized String read(int order) {
        Row row = rows.get(order);
        return row == null ? "" : row.text();
    }

    /**
     * The order's text for somebody who will write it: from now on no earlier holder can, or its write would be overwritten unseen.
     * Refuses a token below the highest that it has seen for this order.
     */
    public synchronized String read(int order, long token) {
        write(order, read(order), token);
        return read(order);
    }

    /** Refuses a token below the highest that it has seen for this order. */
    public synchronized void write(int order, String text, long token) {
        Row row = rows.get(order);
        if (row != null && token < row.token()) {
            throw new StaleTokenException(order, token, row.token());
        }
        rows.put(order, new Row(text, token));
    }
}

package com.example.orders;

import java.util.HashMap;
import java.util.Map;

/** Where orders lie, as a database would keep them: with the highest fencing token that it has seen for each. */
public final class OrderStore {
    private record Row(String text, long token) {}

    private final Map<Integer, Row> rows = new HashMap<>();

    /** Returns the order's text for reading only; empty if there is no such order. */
    public synchronized String read(int order) {
        Row row = rows.get(order);
        return row == null ? "" : row.text();
    }

    /**
     * Returns the order's text for a later write. From now on no earlier holder can write, or its write would be
     * overwritten unseen. Refuses a token below the highest that it has seen for this order.
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

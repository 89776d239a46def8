package com.example.orders;

/** Thrown for a write of a holder that has lost the lock. */
public final class StaleTokenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StaleTokenException(int order, long token, long highest) {
        super("order " + order + ": token " + token + " is below " + highest);
    }
}

package com.example.orders;

/** A write came from somebody who has lost the lock meanwhile. */
public final class StaleTokenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StaleTokenException(int order, long token, long highest) {
        super("order " + order + ": token " + token + " is below " + highest);
    }
}

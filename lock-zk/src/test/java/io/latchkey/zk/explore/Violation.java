package io.latchkey.zk.explore;

/** An obligation was broken. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1;

    Violation(String what) {
        super(what);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What was made for one test or one class, to be closed after it in reverse order. */
final class TestResources {
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    synchronized <R extends AutoCloseable> R add(R resource) {
        made.push(resource);
        return resource;
    }

    /**
     * Adds to a test's failure what passed on the wires of its faulty clients, and their history if they are recorded.
     */
    synchronized void attachWiresTo(Throwable failure) {
        List<FaultyClient> clients = made.stream()
                .filter(FaultyClient.class::isInstance)
                .map(FaultyClient.class::cast)
                .toList();
        if (!clients.isEmpty()) {
            failure.addSuppressed(new WireReport(MergedLog.of(clients)));
        }
    }

    /** Closes everything; the first failure is thrown when all is done, with the others attached. */
    synchronized void close() {
        IllegalStateException failure = null;
        while (!made.isEmpty()) {
            AutoCloseable each = made.pop();
            try {
                each.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                if (failure == null) {
                    failure = new IllegalStateException("cannot close " + each, e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Not a failure of its own: a text that travels with one. */
    private static final class WireReport extends Exception {
        private static final long serialVersionUID = 1;

        WireReport(String text) {
            super(text, null, false, false);
        }
    }
}

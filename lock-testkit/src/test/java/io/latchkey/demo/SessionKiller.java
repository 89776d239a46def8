// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ends a session of some client at the server now and then, as an administrator might: a second connection with the
 * session's id and password closes it. The client's place in the queue is gone at once, its lease too; it learns of
 * that a second later, makes a new session by itself and queues again.
 */
final class SessionKiller {
    private static final Duration PAUSE_AT_LEAST = Duration.ofMillis(300);
    private static final Duration PAUSE_AT_MOST = Duration.ofMillis(900);
    private static final Duration ENDS_WITHIN = Duration.ofSeconds(15);

    private final List<FaultyClient> clients;
    private final Books books;
    private final Set<Long> killed = new HashSet<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread = new Thread(this::work, "demo-session-killer");

    private SessionKiller(List<FaultyClient> clients, Books books) {
        this.clients = clients;
        this.books = books;
    }

    /** Begins; goes on until it is stopped. */
    static SessionKiller start(List<FaultyClient> clients, Books books) {
        SessionKiller killer = new SessionKiller(clients, books);
        killer.thread.setDaemon(true);
        killer.thread.start();
        return killer;
    }

    private void work() {
        try {
            while (!stopped.await(pauseMillis(), TimeUnit.MILLISECONDS)) {
                kill(victim());
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException failed) {
            throw new IllegalStateException("cannot end a session", failed);
        }
    }

    private static long pauseMillis() {
        return ThreadLocalRandom.current().nextLong(PAUSE_AT_LEAST.toMillis(), PAUSE_AT_MOST.toMillis());
    }

    /** Every other time the holder, if possible; otherwise any client. */
    private FaultyClient victim() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String wanted = random.nextBoolean() ? books.lastGranted() : "";
        return clients.stream()
                .filter(client -> client.name().equals(wanted))
                .findFirst()
                .orElseGet(() -> clients.get(random.nextInt(clients.size())));
    }

    /** A client that has not yet found out about its last session's end is left alone. */
    private void kill(FaultyClient client) throws InterruptedException, ExecutionException, TimeoutException {
        OptionalLong session = client.proxy().session();
        if (session.isPresent() && killed.add(session.getAsLong())) {
            books.history().expire(client, ExpiryOrder.SERVER_FIRST).get(ENDS_WITHIN.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Returns when the last killing is done. */
    void stop() throws InterruptedException {
        stopped.countDown();
        thread.join();
    }
}

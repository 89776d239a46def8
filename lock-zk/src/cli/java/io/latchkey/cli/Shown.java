// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.latchkey.lock.Contender;
import io.latchkey.zk.internal.queue.Kind;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The JSON of locks and requests. Scripts rely on its names and their order. */
final class Shown {
    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .disableHtmlEscaping()
            .setPrettyPrinting()
            .create();

    /** Matches each half of a surrogate pair separately, because JSON escapes them separately. */
    private static final Pattern OUTSIDE_OF_ASCII = Pattern.compile("[^ -~\\n]");

    private Shown() {}

    /** Returns JSON in ASCII. Other characters occur only in strings, where they are escaped. */
    static String json(Object shown) {
        return OUTSIDE_OF_ASCII
                .matcher(GSON.toJson(shown))
                .replaceAll(
                        match -> String.format("\\\\u%04x", (int) match.group().charAt(0)));
    }

    /**
     * A lock in a list.
     *
     * @param kind mutex, read-write or semaphore
     * @param permits the declared permits, 1 unless it is a semaphore; null if only its clients know
     * @param capacity the permits that can be held at a time; null if only its clients know
     * @param holders the requests that hold
     * @param waiters the requests that wait
     * @param layout latchkey, curator or kazoo
     */
    record Lock(
            String path,
            String kind,
            @Nullable Integer permits,
            @Nullable Integer capacity,
            long holders,
            long waiters,
            String layout) {
        static Lock of(LockTree.Seen seen) {
            FoundLock lock = seen.lock();
            List<Contender> queue = seen.queue();
            long holders = queue.stream().filter(Shown::holds).count();
            return new Lock(
                    lock.path(),
                    lock.purpose().kind().text(),
                    declared(lock),
                    atATime(lock),
                    holders,
                    queue.size() - holders,
                    whose(lock));
        }
    }

    /**
     * A lock and its queue.
     *
     * @param kind null if there is no lock at the path
     * @param layout null if there is no lock at the path
     */
    record Queue(
            String path,
            @Nullable String kind,
            @Nullable Integer permits,
            @Nullable Integer capacity,
            @Nullable String layout,
            List<Request> queue) {
        static Queue none(String path) {
            return new Queue(path, null, 0, 0, null, List.of());
        }

        static Queue of(LockTree.Seen seen) {
            FoundLock lock = seen.lock();
            Kind kind = lock.purpose().kind();
            return new Queue(
                    lock.path(),
                    kind.text(),
                    declared(lock),
                    atATime(lock),
                    whose(lock),
                    seen.queue().stream()
                            .map(contender -> Request.of(kind, contender))
                            .toList());
        }
    }

    /**
     * A request.
     *
     * @param state holding or waiting
     * @param lock the requested lock: mutex, read, write or semaphore
     * @param processId 0 if it is unknown
     * @param since the time of the request by the server's clock; null if this client may not read it
     */
    record Request(
            String state,
            long token,
            String lock,
            int permits,
            @Nullable String since,
            String host,
            long processId,
            String label) {
        static Request of(Kind kind, Contender contender) {
            return new Request(
                    contender.state().name().toLowerCase(Locale.ROOT),
                    contender.token(),
                    asked(kind, contender.access()),
                    contender.permits(),
                    contender.since().equals(Instant.EPOCH)
                            ? null
                            : contender.since().toString(),
                    contender.host(),
                    contender.processId(),
                    contender.label());
        }
    }

    private static String asked(Kind kind, Contender.Access access) {
        return switch (access) {
            case EXCLUSIVE -> kind == Kind.READ_WRITE ? "write" : kind.text();
            case SHARED -> "read";
            case PERMITS -> kind.text();
        };
    }

    private static @Nullable Integer declared(FoundLock lock) {
        return lock.isCounted() ? lock.purpose().declared() : null;
    }

    private static @Nullable Integer atATime(FoundLock lock) {
        return lock.isCounted() ? lock.purpose().capacity() : null;
    }

    private static String whose(FoundLock lock) {
        return lock.layout().name().toLowerCase(Locale.ROOT);
    }

    private static boolean holds(Contender contender) {
        return contender.state() == Contender.State.HOLDING;
    }
}

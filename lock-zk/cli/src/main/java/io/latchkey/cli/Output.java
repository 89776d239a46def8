// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The JSON of locks and requests. Scripts rely on its names and their order. */
final class Output {
    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .disableHtmlEscaping()
            .setPrettyPrinting()
            .create();

    private static final Gson LINE =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    /** Matches each half of a surrogate pair separately, because JSON escapes them separately. */
    private static final Pattern OUTSIDE_OF_ASCII = Pattern.compile("[^ -~\\n]");

    private Output() {}

    /** Returns JSON in ASCII. Other characters occur only in strings, where they are escaped. */
    static String json(Object shown) {
        return ascii(GSON.toJson(shown));
    }

    /** Returns the same in one line. */
    static String line(Object shown) {
        return ascii(LINE.toJson(shown));
    }

    private static String ascii(String json) {
        return OUTSIDE_OF_ASCII
                .matcher(json)
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
     * @param oldestHolderAgeSeconds the age of the oldest request that holds; null if there is none that can be read
     * @param oldestWaiterAgeSeconds the same of those that wait
     */
    record Lock(
            String path,
            String kind,
            @Nullable Integer permits,
            @Nullable Integer capacity,
            int holders,
            int waiters,
            String layout,
            @Nullable BigDecimal oldestHolderAgeSeconds,
            @Nullable BigDecimal oldestWaiterAgeSeconds) {
        static Lock of(LockSummary lock, Instant now) {
            return new Lock(
                    lock.path(),
                    text(lock.kind()),
                    number(lock.permits()),
                    number(lock.capacity()),
                    lock.holders(),
                    lock.waiters(),
                    lock.layout(),
                    oldest(lock, Contender.State.HOLDING, now),
                    oldest(lock, Contender.State.WAITING, now));
        }

        private static @Nullable BigDecimal oldest(LockSummary lock, Contender.State state, Instant now) {
            return lock.queue().stream()
                    .filter(request -> request.state() == state)
                    .map(request -> Optional.ofNullable(Age.of(request.requestedAt(), now)))
                    .flatMap(Optional::stream)
                    .max(Comparator.naturalOrder())
                    .map(Age::seconds)
                    .orElse(null);
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

        static Queue of(LockSummary lock, Instant now) {
            return new Queue(
                    lock.path(),
                    text(lock.kind()),
                    number(lock.permits()),
                    number(lock.capacity()),
                    lock.layout(),
                    lock.queue().stream()
                            .map(contender -> Request.of(lock.kind(), contender, now))
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
     * @param ageSeconds how long ago that was by this machine's clock; null if this client may not read it
     * @param session the id of the session, as servers' logs show it; null if this client may not read it
     */
    record Request(
            String state,
            long token,
            String lock,
            int permits,
            @Nullable String since,
            String host,
            long processId,
            String label,
            @Nullable BigDecimal ageSeconds,
            @Nullable String session) {
        static Request of(LockSummary.Kind kind, Contender contender, Instant now) {
            return new Request(
                    contender.state().name().toLowerCase(Locale.ROOT),
                    contender.token(),
                    asked(kind, contender.access()),
                    contender.permits(),
                    contender.requestedAt().equals(Instant.EPOCH)
                            ? null
                            : contender.requestedAt().toString(),
                    contender.owner().host(),
                    contender.owner().processId(),
                    contender.owner().label(),
                    Age.seconds(Age.of(contender.requestedAt(), now)),
                    contender.session() == 0 ? null : Owners.session(contender.session()));
        }
    }

    private static String asked(LockSummary.Kind kind, Contender.Access access) {
        return switch (access) {
            case EXCLUSIVE -> kind == LockSummary.Kind.READ_WRITE ? "write" : text(kind);
            case SHARED -> "read";
            case PERMITS -> text(kind);
        };
    }

    private static String text(LockSummary.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static @Nullable Integer number(OptionalInt permits) {
        return permits.isPresent() ? permits.getAsInt() : null;
    }

    /**
     * Prints the missing paths unless they are the same as at the last look, and returns the exit status.
     *
     * @param before the paths that were missing at the last look
     */
    static ExitStatus complainOfMissing(LockListing listing, Set<String> before) {
        return listing.unreadable().keySet().equals(before)
                ? ExitStatus.ofMissing(listing.unreadable().values())
                : complainOfMissing(listing);
    }

    /** Prints the missing paths on standard error and returns the exit status. */
    static ExitStatus complainOfMissing(LockListing listing) {
        String unreadable = listing.unreadable().entrySet().stream()
                .filter(each -> each.getValue() instanceof AccessDeniedException)
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(" "));
        if (!unreadable.isEmpty()) {
            Terminal.complain(
                    "not shown, since this client may not read it (give it the right, or --auth): " + unreadable);
        }
        listing.unreadable().forEach((path, reason) -> {
            if (!(reason instanceof AccessDeniedException)) {
                Terminal.complain("not shown: " + path + ": " + reason.getMessage());
            }
        });
        return ExitStatus.ofMissing(listing.unreadable().values());
    }
}

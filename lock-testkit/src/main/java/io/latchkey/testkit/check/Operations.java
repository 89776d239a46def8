// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.check.SessionEnds.Bearing;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.history.LockClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The operations of a history, for the {@link LinearizabilityChecker}, whose comment says what becomes one. */
final class Operations {
    private static final String CERTAIN = "RELEASED";

    private final SessionEnds ends;
    private final Function<Attempt.Summary, String> holders;
    private final List<HistoryEvent> events;

    /** What counts of holds whose end or session is not known exactly. */
    enum Count {
        /** Only what is sure. */
        SURE,
        /** All that may have been. */
        PERHAPS
    }

    /** @param holders under which name an attempt holds */
    Operations(List<HistoryEvent> events, Function<Attempt.Summary, String> holders) {
        this.events = events;
        this.ends = new SessionEnds(events);
        this.holders = holders;
    }

    /** What these attempts did, all of the same group of paths. */
    List<Operation> of(List<Attempt.Summary> group, Count count) {
        List<Operation> operations = new ArrayList<>();
        boolean resized = false;
        for (Attempt.Summary summary : group) {
            if (summary.isGranted()) {
                addHold(summary, group, count, operations);
            } else if (summary.resizing() != Attempt.Summary.NEVER) {
                addResize(summary, operations);
                resized = true;
            }
        }
        if (!resized) {
            group.stream()
                    .filter(summary -> isRefused(summary, group))
                    .forEach(summary -> operations.add(new Operation(
                            new Action.Refuse(summary.claims()),
                            summary.attempt(),
                            summary.requested(),
                            summary.gaveUp())));
        }
        return operations;
    }

    private void addHold(
            Attempt.Summary summary, List<Attempt.Summary> group, Count count, List<Operation> operations) {
        if (!counts(summary, count)) {
            return;
        }
        String holder = holders.apply(summary);
        if (summary.isDowngrade()) {
            Optional<Attempt.Summary> writer = group.stream()
                    .filter(each -> isGoneOnWith(each, summary))
                    .filter(each -> counts(each, count))
                    .findFirst();
            if (writer.isEmpty()) {
                return;
            }
            operations.add(new Operation(
                    new Action.Downgrade(
                            holders.apply(writer.get()),
                            holder,
                            summary.claims().get(0).path()),
                    summary.attempt(),
                    summary.requested(),
                    summary.releasing()));
        } else {
            operations.add(new Operation(
                    new Action.Acquire(holder, summary.claims()),
                    summary.attempt(),
                    summary.requested(),
                    summary.granted()));
        }
        boolean goesOn = summary.goesOnInAnother();
        long limit = ends.limitOf(summary);
        long from = Math.min(count == Count.SURE ? summary.surelyUntil() : summary.perhapsUntil(), limit);
        if (!goesOn && from != Attempt.Summary.NEVER) {
            boolean known = summary.isReleasedInOrder() && summary.outcome().equals(CERTAIN);
            operations.add(new Operation(
                    new Action.Release(holder, summary.claims()),
                    summary.attempt(),
                    Math.max(from, summary.granted()),
                    known ? summary.released() : Operation.OPEN));
        }
    }

    /** Whether the session of the grant lived, as far as it counts. */
    private boolean counts(Attempt.Summary summary, Count count) {
        Bearing bearing = ends.on(summary);
        return bearing == Bearing.GRANTED_ALIVE || (bearing == Bearing.UNKNOWN && count == Count.PERHAPS);
    }

    private static boolean isGoneOnWith(Attempt.Summary writer, Attempt.Summary reader) {
        return writer.isGranted()
                && writer.token() == reader.token()
                && writer.client().equals(reader.client())
                && writer.releasing() == reader.requested()
                && writer.attempt() != reader.attempt();
    }

    private static void addResize(Attempt.Summary summary, List<Operation> operations) {
        if (summary.claims().get(0) instanceof LockClaim.Permits some) {
            operations.add(new Operation(
                    new Action.Resize(some.path(), some.of()),
                    summary.attempt(),
                    summary.resizing(),
                    summary.resized() == Attempt.Summary.NEVER ? Operation.OPEN : summary.resized()));
        }
    }

    /**
     * Whether an attempt that did not wait was certainly refused because of a holder: not because of a waiter, a
     * request that may still have been queued, or nodes of an ended session.
     */
    private boolean isRefused(Attempt.Summary summary, List<Attempt.Summary> group) {
        if (!summary.ranOutOfTime() || !summary.patience().equals(Optional.of(Duration.ZERO))) {
            return false;
        }
        boolean noFault = events.stream()
                .filter(event -> event.nanos() < summary.gaveUp())
                .noneMatch(event -> event.type() == EventType.LOST
                        || event.type() == EventType.SESSION_ENDING
                        || (event.type() == EventType.NOTE && event.attempt() == 0));
        return noFault
                && group.stream()
                        .filter(other -> other.attempt() != summary.attempt() && other.requested() < summary.gaveUp())
                        .allMatch(other -> other.isGranted()
                                ? other.granted() <= summary.requested()
                                : other.gaveUp() < summary.requested()
                                        && other.patience().equals(Optional.of(Duration.ZERO))
                                        && other.ranOutOfTime());
    }
}

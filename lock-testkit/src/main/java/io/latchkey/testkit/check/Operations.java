// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.check.SessionEnds.Bearing;
import io.latchkey.testkit.history.AttemptSummary;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.What;
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
    private final Function<AttemptSummary, String> holders;
    private final List<HistoryEvent> events;

    /** What counts of holds whose end or session is not known exactly. */
    enum Count {
        /** Only what is sure. */
        SURE,
        /** All that may have been. */
        PERHAPS
    }

    /** @param holders under which name an attempt holds */
    Operations(List<HistoryEvent> events, Function<AttemptSummary, String> holders) {
        this.events = events;
        this.ends = new SessionEnds(events);
        this.holders = holders;
    }

    /** What these attempts did, all of the same group of paths. */
    List<Operation> of(List<AttemptSummary> group, Count count) {
        List<Operation> operations = new ArrayList<>();
        boolean resized = false;
        for (AttemptSummary course : group) {
            if (course.isGranted()) {
                addHold(course, group, count, operations);
            } else if (course.resizing() != AttemptSummary.NEVER) {
                addResize(course, operations);
                resized = true;
            }
        }
        if (!resized) {
            group.stream()
                    .filter(course -> isRefused(course, group))
                    .forEach(course -> operations.add(new Operation(
                            new Action.Refuse(course.claims()),
                            course.attempt(),
                            course.requested(),
                            course.gaveUp())));
        }
        return operations;
    }

    private void addHold(AttemptSummary course, List<AttemptSummary> group, Count count, List<Operation> operations) {
        HoldInterval hold = HoldInterval.of(course, course.claims().get(0));
        if (!counts(course, count)) {
            return;
        }
        String holder = holders.apply(course);
        if (course.isDowngrade()) {
            Optional<AttemptSummary> writer = group.stream()
                    .filter(each -> isGoneOnWith(each, course))
                    .filter(each -> counts(each, count))
                    .findFirst();
            if (writer.isEmpty()) {
                return;
            }
            operations.add(new Operation(
                    new Action.Downgrade(
                            holders.apply(writer.get()),
                            holder,
                            course.claims().get(0).path()),
                    course.attempt(),
                    course.requested(),
                    course.releasing()));
        } else {
            operations.add(new Operation(
                    new Action.Acquire(holder, course.claims()),
                    course.attempt(),
                    course.requested(),
                    course.granted()));
        }
        boolean goesOn = course.goesOnInAnother();
        long limit = ends.limitOf(hold);
        long from = Math.min(count == Count.SURE ? course.surelyUntil() : course.perhapsUntil(), limit);
        if (!goesOn && from != AttemptSummary.NEVER) {
            boolean known = course.isReleasedInOrder() && course.outcome().equals(CERTAIN);
            operations.add(new Operation(
                    new Action.Release(holder, course.claims()),
                    course.attempt(),
                    Math.max(from, course.granted()),
                    known ? course.released() : Operation.OPEN));
        }
    }

    /** Whether the session of the grant lived, as far as it counts. */
    private boolean counts(AttemptSummary course, Count count) {
        Bearing bearing = ends.on(HoldInterval.of(course, course.claims().get(0)));
        return bearing == Bearing.GRANTED_ALIVE || (bearing == Bearing.UNKNOWN && count == Count.PERHAPS);
    }

    private static boolean isGoneOnWith(AttemptSummary writer, AttemptSummary reader) {
        return writer.isGranted()
                && writer.token() == reader.token()
                && writer.client().equals(reader.client())
                && writer.releasing() == reader.requested()
                && writer.attempt() != reader.attempt();
    }

    private static void addResize(AttemptSummary course, List<Operation> operations) {
        if (course.claims().get(0) instanceof LockClaim.Permits some) {
            operations.add(new Operation(
                    new Action.Resize(some.path(), some.of()),
                    course.attempt(),
                    course.resizing(),
                    course.resized() == AttemptSummary.NEVER ? Operation.OPEN : course.resized()));
        }
    }

    /**
     * Whether an attempt that did not wait was refused by somebody who held, for certain: neither by one who waited or whose request was
     * perhaps still standing, which the history does not tell, nor by what a session left behind.
     */
    private boolean isRefused(AttemptSummary course, List<AttemptSummary> group) {
        if (!course.ranOutOfTime() || !course.patience().equals(Optional.of(Duration.ZERO))) {
            return false;
        }
        boolean noFault = events.stream()
                .filter(event -> event.nanos() < course.gaveUp())
                .noneMatch(event -> event.what() == What.LOST
                        || event.what() == What.SESSION_ENDING
                        || (event.what() == What.NOTE && event.attempt() == 0));
        return noFault
                && group.stream()
                        .filter(other -> other.attempt() != course.attempt() && other.requested() < course.gaveUp())
                        .allMatch(other -> other.isGranted()
                                ? other.granted() <= course.requested()
                                : other.gaveUp() < course.requested()
                                        && other.patience().equals(Optional.of(Duration.ZERO))
                                        && other.ranOutOfTime());
    }
}

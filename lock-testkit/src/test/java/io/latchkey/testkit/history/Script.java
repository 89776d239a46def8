// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.testkit.history.HistoryEvent.EventType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Histories written by hand: steps between semicolons, times in milliseconds. A step names an attempt and its events:
 * {@code a#1 asks 0 granted 1=TOKEN@SESSION released 5}. After {@code on /m:r /s:2of3} attempts claim a read lock and
 * permits; {@code a@77 ends 10-12} ends a session of the client {@code a}. An underscore stands for a blank.
 */
public final class Script {
    private final List<HistoryEvent> events = new ArrayList<>();
    private List<LockClaim> claims = List.of(LockClaim.exclusive("/m"));

    private Script() {}

    public static List<HistoryEvent> of(String steps) {
        Script script = new Script();
        for (String step : steps.split(";", -1)) {
            script.play(step.strip().split("\\s+", -1));
        }
        return script.events.stream()
                .sorted(Comparator.comparingLong(HistoryEvent::nanos))
                .toList();
    }

    private void play(String... words) {
        if (words[0].equals("on")) {
            claims = Stream.of(words).skip(1).map(Script::claim).toList();
            return;
        }
        for (int i = 1; i < words.length; i += 2) {
            String values = words[i + 1];
            event(words[0], words[i], words[i].equals("note") ? values.split("/", 2) : values.split("[-=@/>]", -1));
        }
    }

    private static LockClaim claim(String text) {
        String[] parts = text.split(":|of", -1);
        return switch (parts.length) {
            case 1 -> LockClaim.exclusive(parts[0]);
            case 2 -> LockClaim.shared(parts[0]);
            default -> LockClaim.permits(parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
        };
    }

    private void event(String subject, String type, String... values) {
        double at = Double.parseDouble(values[0]);
        switch (type) {
            case "asks" -> add(subject, at, EventType.REQUESTED, values.length > 1 ? values[1] : "");
            case "placed" -> add(subject, at, EventType.PLACED, "");
            case "queued" -> {
                add(subject, at, EventType.REQUESTED, "");
                add(subject, at + 0.5, EventType.PLACED, "");
            }
            case "granted" ->
                add(
                        subject,
                        at,
                        EventType.GRANTED,
                        Long.parseLong(values[1]),
                        values.length > 2 ? Long.parseLong(values[2]) : 0,
                        "");
            case "valid" -> add(subject, at, EventType.VALID, "");
            case "lost" -> add(subject, at, EventType.LOST, "SESSION_EXPIRED");
            case "gaveUp" -> add(subject, at, EventType.GAVE_UP, HistoryEvent.OUT_OF_TIME);
            case "releasing" -> add(subject, at, EventType.RELEASING, "");
            case "released" -> {
                add(subject, at, EventType.RELEASING, "");
                add(subject, at + 1, EventType.RELEASED, "RELEASED");
            }
            case "held" -> {
                event(subject, "asks", values[0]);
                event(subject, "granted", values[1], values[3]);
                event(subject, "released", values[2]);
            }
            case "resized" -> {
                add(subject, at, EventType.RESIZING, "");
                add(subject, Double.parseDouble(values[1]), EventType.RESIZED, "");
            }
            case "downgraded" -> {
                claims = List.of(LockClaim.exclusive("/m"));
                add(subject, at, EventType.RELEASING, HistoryEvent.DOWNGRADE);
                add(subject, at, EventType.RELEASED, HistoryEvent.DOWNGRADE);
                claims = List.of(LockClaim.shared("/m"));
                String reader = subject.replaceAll("#.*", "#" + values[1]);
                add(reader, at, EventType.REQUESTED, HistoryEvent.DOWNGRADE);
                add(reader, at, EventType.GRANTED, HistoryEvent.DOWNGRADE);
            }
            case "ends" -> {
                long session = Long.parseLong(subject.replaceAll(".*@", ""));
                add(subject, at, EventType.SESSION_ENDING, 0, session, values.length > 2 ? values[2] : "SERVER_FIRST");
                add(subject, Double.parseDouble(values[1]), EventType.SESSION_ENDED, 0, session, "");
            }
            case "note" -> add(subject, at, EventType.NOTE, values.length > 1 ? values[1].replace('_', ' ') : "");
            default -> throw new IllegalArgumentException(type);
        }
    }

    private void add(String subject, double millis, EventType type, String note) {
        add(subject, millis, type, 0, 0, note);
    }

    private void add(String subject, double millis, EventType type, long token, long session, String note) {
        String client = subject.replaceAll("[#@].*", "").replace('_', ' ');
        long attempt = subject.contains("#") ? Long.parseLong(subject.replaceAll(".*#", "")) : 0;
        events.add(new HistoryEvent(
                (long) (millis * 1e6), client, attempt, attempt == 0 ? List.of() : claims, type, token, session, note));
    }
}

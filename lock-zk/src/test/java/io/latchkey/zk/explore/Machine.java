// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.Acquisition;
import io.latchkey.zk.acquire.Command;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.recipe.Rule;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A state of the real {@link Acquisition}, as a value. An acquisition cannot be copied, so a state is known by events
 * that lead to it, which are played to a fresh one for every event that has not been tried here before. Two lists of
 * events that leave all fields alike lead to the same state.
 */
final class Machine {
    /** What an event leads to. */
    record Reaction(Machine next, List<Command> commands) {}

    /** All states of one request's machine that were met. */
    private static final class Family {
        final int first;
        final List<Rule> rules;
        final Map<String, Machine> met = new HashMap<>();

        Family(int first, List<Rule> rules) {
            this.first = first;
            this.rules = rules;
        }

        Acquisition fresh() {
            int[] next = {first};
            return new Acquisition(rules, () -> String.format("%016x", next[0]++));
        }

        Machine of(List<Event> history, Acquisition now) {
            return met.computeIfAbsent(fingerprint(now), f -> new Machine(this, history, now));
        }
    }

    private final Family family;
    private final List<Event> history;
    private final State state;
    private final String id;
    private final List<Optional<NodeName>> names = new ArrayList<>();
    private final List<Boolean> wantsList = new ArrayList<>();
    private final List<Boolean> ready = new ArrayList<>();
    private final Map<Event, Reaction> reactions = new HashMap<>();

    private Machine(Family family, List<Event> history, Acquisition now) {
        this.family = family;
        this.history = history;
        this.state = now.state();
        this.id = now.id();
        for (int i = 0; i < family.rules.size(); i++) {
            names.add(now.name(i));
            wantsList.add(now.wantsList(i));
            ready.add(now.isReady(i));
        }
    }

    /** A machine that has seen nothing; its attempts are numbered from {@code first}. */
    static Machine fresh(int first, List<Rule> rules) {
        Family family = new Family(first, rules);
        return family.of(List.of(), family.fresh());
    }

    State state() {
        return state;
    }

    String id() {
        return id;
    }

    Optional<NodeName> name(int member) {
        return names.get(member);
    }

    boolean wantsList(int member) {
        return wantsList.get(member);
    }

    boolean isReady(int member) {
        return ready.get(member);
    }

    boolean isWaiting() {
        return state == State.QUEUED || state == State.CONFIRMING;
    }

    Reaction on(Event event) {
        return reactions.computeIfAbsent(event, this::react);
    }

    private Reaction react(Event event) {
        Acquisition played = family.fresh();
        history.forEach(played::on);
        List<Command> commands = played.on(event);
        List<Event> longer = new ArrayList<>(history);
        longer.add(event);
        return new Reaction(family.of(List.copyOf(longer), played), commands);
    }

    @Override
    public String toString() {
        return state.toString();
    }

    /** Everything that an acquisition remembers, whatever its fields are; its rules and ids are those of the family. */
    private static String fingerprint(Object remembers) {
        StringBuilder all = new StringBuilder();
        for (Field field : remembers.getClass().getDeclaredFields()) {
            boolean constant = Modifier.isStatic(field.getModifiers())
                    || field.getType() == Rule.class
                    || field.getType() == Supplier.class;
            if (!constant) {
                all.append(field.getName())
                        .append('=')
                        .append(text(field, remembers))
                        .append(';');
            }
        }
        return all.toString();
    }

    private static String text(Field field, Object of) {
        try {
            field.setAccessible(true);
            Object value = field.get(of);
            if (value instanceof List<?> members) {
                return members.stream().map(Machine::fingerprint).toList().toString();
            }
            return String.valueOf(value);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.recipe.Recipe;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A small world to explore: who asks for what, and what may go wrong how often.
 *
 * @param sessions of each session its requests
 * @param capacity of every path at the beginning
 * @param sizes the capacities an operator may change to
 * @param budget how often
 * @param delays what takes a step of its own
 * @param neglects what the shell gets wrong
 */
record Scope(
        List<List<Request>> sessions,
        int capacity,
        List<Integer> sizes,
        Budget budget,
        Set<Delay> delays,
        Set<Neglect> neglects) {
    /** One request: a member for every path that it wants. */
    record Request(List<Wish> wishes) {}

    /** What a request wants of one path. */
    record Wish(int path, Recipe recipe) {
        @Override
        public String toString() {
            return recipe.describe() + (path == 0 ? "" : " on path " + path);
        }
    }

    /** How often something may still happen. */
    record Budget(int cancels, int crashes, int expiries, int resizes, int robberies) {
        static final Budget NONE = new Budget(0, 0, 0, 0, 0);
        /** As often as it can. */
        static final int ANY = 9;

        Budget cancels(int n) {
            return new Budget(n, crashes, expiries, resizes, robberies);
        }

        Budget crashes(int n) {
            return new Budget(cancels, n, expiries, resizes, robberies);
        }

        Budget expiries(int n) {
            return new Budget(cancels, crashes, n, resizes, robberies);
        }

        Budget resizes(int n) {
            return new Budget(cancels, crashes, expiries, n, robberies);
        }

        Budget robberies(int n) {
            return new Budget(cancels, crashes, expiries, resizes, n);
        }
    }

    /** What is left to chance; without it, it happens at once. */
    enum Delay {
        /**
         * When the server takes the next question of a session, which else it takes together with those behind it: a
         * create with the reads and the list of its flight, and all watches of one certificate.
         */
        SERVICE,
        /**
         * When a session takes the next message from its pipe. At once is no restriction: taking a message changes
         * nothing but the session and adds to its pipe towards the server, which takes from there whenever it likes; so
         * any schedule can be re-ordered, without changing what anybody sees, to one in which messages are taken as soon
         * as they are there. What the session does of itself (cancel, release) then comes before the server's step whose
         * message it has not taken yet.
         */
        DELIVERY,
        /**
         * When the session's validity is made sure of, between the decision to hold and the grant. At once leaves out
         * what can happen to a request in between.
         */
        CONFIRMATION,
        /**
         * When a holder releases. At once is no restriction for sessions of one request: what matters is when the server
         * takes the deletion, and until it has, the laws take its request for a holder that holds on. With more requests
         * what they ask later would stand behind the deletion.
         */
        RELEASE,
        /**
         * What makes no difference, each for a reason of its own: when a session that is over takes back its watches (they
         * tell things to nobody), and when one reads a capacity that does not change any more, to learn what it knows
         * already or before it listens to anything.
         */
        TRIFLES
    }

    /** Faults of the shell, to see that they are found. */
    enum Neglect {
        /** Nobody who waits watches the capacity. */
        NO_CAPACITY_WATCH,
        /** A list is read with the capacity that the session happens to know. */
        CAPACITY_OF_ANOTHER_MOMENT,
        /** A capacity that is read for one request, with a list or its create, is not told to the others of the session. */
        READ_AND_NOT_TOLD,
        /** A message of a watch that was taken back is taken for one of the watch that was asked for since. */
        LATE_MESSAGE_COUNTS,
        /** Who waits for a mark does not watch its own node. */
        NO_OWN_WATCH,
        /** Who holds does not tell who waits for that. */
        NO_WORD,
        /** Who follows another does not look whether that one is older than the capacity. */
        AGE_OF_THE_ONE_AHEAD
    }

    /** Each request in a session of its own. */
    static Scope of(Recipe... recipes) {
        List<List<Request>> sessions = new ArrayList<>();
        for (Recipe recipe : recipes) {
            sessions.add(List.of(new Request(List.of(new Wish(0, recipe)))));
        }
        return of(sessions);
    }

    static Scope of(List<List<Request>> sessions) {
        return new Scope(sessions, 1, List.of(), Budget.NONE, Set.of(Delay.SERVICE), Set.of());
    }

    Scope capacity(int n) {
        return new Scope(sessions, n, sizes, budget, delays, neglects);
    }

    Scope resizes(int n, Integer... to) {
        return new Scope(sessions, capacity, List.of(to), budget.resizes(n), delays, neglects);
    }

    Scope budget(Budget other) {
        return new Scope(sessions, capacity, sizes, other.resizes(budget.resizes()), delays, neglects);
    }

    Scope delay(Delay... more) {
        Set<Delay> all = EnumSet.noneOf(Delay.class);
        all.addAll(delays);
        all.addAll(List.of(more));
        return new Scope(sessions, capacity, sizes, budget, all, neglects);
    }

    Scope coarse() {
        return new Scope(sessions, capacity, sizes, budget, Set.of(), neglects);
    }

    Scope neglect(Neglect... some) {
        return new Scope(sessions, capacity, sizes, budget, delays, Set.of(some));
    }

    Request request(int session, int request) {
        return sessions.get(session).get(request);
    }

    /** Whether two sessions want the same. */
    boolean areTwins(int one, int other) {
        return sessions.get(one).equals(sessions.get(other));
    }

    int paths() {
        return 1
                + sessions.stream()
                        .flatMap(List::stream)
                        .flatMap(request -> request.wishes().stream())
                        .mapToInt(Wish::path)
                        .max()
                        .orElseThrow();
    }

    /** A, B, C and so on. */
    static String name(int session) {
        return String.valueOf((char) ('A' + session));
    }

    @Override
    public String toString() {
        String asked = sessions.stream()
                .map(requests -> requests.stream()
                        .map(request -> request.wishes().toString())
                        .collect(Collectors.joining(" and ")))
                .collect(Collectors.joining(", "));
        return "capacity " + capacity + (sizes.isEmpty() ? "" : ", to " + sizes) + ": " + asked + "; " + budget
                + (delays.isEmpty() ? "" : " " + delays) + (neglects.isEmpty() ? "" : " " + neglects);
    }
}

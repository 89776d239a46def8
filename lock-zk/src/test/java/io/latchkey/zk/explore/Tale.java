// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.State;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.IntFunction;

/** Steps, for a person to read. */
final class Tale {
    private Tale() {}

    static String of(Step step, Server server, IntFunction<Client> clients) {
        int first = step.first();
        int second = step.second();
        return switch (step.kind()) {
            case SERVE ->
                "server takes from " + who(step) + ": "
                        + shown(clients.apply(first).out().get(0));
            case DELIVER -> who(step) + " is told: " + clients.apply(first).in().get(0);
            case CONFIRM -> who(step) + " is sure of its session";
            case RELEASE -> who(step) + " releases";
            case CANCEL -> who(step) + " gives up";
            case CRASH -> who(step) + " crashes, its session is over";
            case EXPIRE -> "the session of " + who(step) + " is over";
            case RESIZE -> "the capacity becomes " + second;
            case ROB ->
                "an operator deletes "
                        + Target.of(
                                first,
                                server.trees().get(first).nodes().get(second).name());
        };
    }

    private static String who(Step step) {
        return Scope.name(step.first()) + (step.second() == 0 ? "" : "'s second request");
    }

    /** What became of the sessions. */
    static String effects(List<Client> before, List<Client> after) {
        StringBuilder all = new StringBuilder();
        for (int s = 0; s < before.size(); s++) {
            all.append(effect(before.get(s), after.get(s)));
        }
        return all.toString();
    }

    private static String effect(Client was, Client is) {
        List<Ask> asked = is.out().size() >= was.out().size() || !was.out().isEmpty()
                ? is.out().stream().filter(ask -> !was.out().contains(ask)).toList()
                : List.of();
        List<State> states = is.machines().stream().map(Machine::state).toList();
        boolean moved =
                !states.equals(was.machines().stream().map(Machine::state).toList());
        boolean grant = !was.granted().containsAll(is.granted());
        if (!moved && !grant && asked.isEmpty()) {
            return "";
        }
        return "; " + Scope.name(is.session()) + (grant ? " is granted and" : "") + ' '
                + (moved ? states.toString().toLowerCase(Locale.ROOT) : "")
                + (asked.isEmpty()
                        ? ""
                        : " asks: " + asked.stream().map(Tale::shown).toList());
    }

    private static String shown(Ask ask) {
        if (ask instanceof Ask.Create) {
            return "create";
        } else if (ask instanceof Ask.Read) {
            return "read capacity";
        } else if (ask instanceof Ask.ListQueue) {
            return "list";
        } else if (ask instanceof Ask.Word word) {
            return "tell by " + word.node();
        } else if (ask instanceof Ask.Watch watch) {
            boolean line = watch.target().node().isEmpty() && watch.kind() == Ask.Kind.CHILDREN;
            return "watch " + (line ? "the queue" : watch.target());
        } else if (ask instanceof Ask.Unwatch unwatch) {
            return "unwatch " + unwatch.target();
        } else if (ask instanceof Ask.Delete delete) {
            return (delete.manner() == Ask.Manner.MARKED ? "mark and delete " : "delete ") + delete.nodes();
        }
        return Objects.toString(ask);
    }
}

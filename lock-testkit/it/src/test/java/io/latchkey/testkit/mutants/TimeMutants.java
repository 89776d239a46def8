// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in sessions, heartbeats and the validity of leases. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class TimeMutants {
    private static final String SESSION = "internal/session/Session";
    private static final String WIRE = "internal/session/Connection";
    private static final String VALIDITY = "internal/session/SessionValidity";
    private static final String HEARTBEAT = "internal/session/Heartbeat";
    private static final String LEASE = "internal/request/ZkLease";

    private TimeMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                            "expiry ignored by the lease",
                            LEASE,
                            "if (period.isValid()) {",
                            "if (session.validity().period() != null) {")
                    .and(VALIDITY, "List.copyOf(holding).forEach(SessionRequest::lapsed);", ""),
            Mutant.of(
                    "validity counted from the disconnect",
                    VALIDITY,
                    "if (lost) {\n            beforeConnection",
                    "if (lost) {\n            ValidityPeriod now = period;\n"
                            + "            if (now != null) {\n"
                            + "                now.prolong(context.now().plus(timeout));\n            }\n            beforeConnection"),
            Mutant.of(
                    "the refusal of a session that ends proves that it lives",
                    "internal/store/ZooKeeperResults",
                    "code == Status.SESSION_EXPIRED || ",
                    ""),
            Mutant.of(
                    "reconnects defer the heartbeat repeatedly",
                    HEARTBEAT,
                    "beatAgain |= context.now().since(checked).compareTo(interval().multipliedBy(2)) > 0;",
                    ""),
            Mutant.of(
                    "a standstill proves as much as pings",
                    VALIDITY,
                    "context.time().standstill(timeout.plus(now.since(sent)))",
                    "Duration.ZERO"),
            Mutant.of(
                    "a standstill is known one pulse later",
                    "internal/validity/SystemClock",
                    "return Collections.max(List.of(longest, maybeNow));",
                    "return maybeNow.isNegative() ? Collections.max(List.of(longest, maybeNow)) : longest;"),
            Mutant.of(
                    "no pair in time after a reconnect",
                    HEARTBEAT,
                    "nextBeat.set(validity.margin());\n            beatAgain",
                    "nextBeat.set(interval());\n            beatAgain"),
            Mutant.of(
                    "a loss is reported only when the lease is checked",
                    VALIDITY,
                    "if (!periodEnd.isSet() && present != null && !present.isOver()) {",
                    "if (present == null) {"),
            Mutant.of(
                    "no heartbeat while holding",
                    HEARTBEAT,
                    "void keepBeating() {\n        if (!nextBeat.isSet()) {",
                    "void keepBeating() {\n        if (connection.isOver()) {"),
            Mutant.of(
                    "the heartbeat looks at no node",
                    HEARTBEAT,
                    "Deque<SessionNode> present = connection.connected() ? nodeChecks.all() : new ArrayDeque<>(0);",
                    "Deque<SessionNode> present = new ArrayDeque<>(0);"),
            Mutant.of(
                    "the heartbeat forgets what it found gone",
                    "internal/session/NodeChecks",
                    "part.get(refusal.index()).gone();",
                    "part.get(refusal.index());"),
            Mutant.of(
                    "the heartbeat reports one deleted node at a time",
                    "internal/session/NodeChecks",
                    "if (others.isEmpty()) {",
                    "if (!others.isEmpty()) {"),
            Mutant.of(
                    "a node is not read after its watch has fired",
                    "internal/request/OwnNodeWatch",
                    "return leftToWatch && confirmed;",
                    "return leftToWatch;"),
            Mutant.of(
                    "a barrier that was refused is not sent again",
                    HEARTBEAT,
                    "if (on == connection.number()) {\n                // The server refused",
                    "if (connection.isOver()) {\n                // The server refused"),
            Mutant.of(
                            "a heartbeat that names one deleted node confirms requests before it has asked for the others",
                            "internal/session/NodeChecks",
                            "connection.<List<Status>>ask(done -> connection.port().exist(paths, done), answer -> {",
                            "then.accept(failed);\n        connection.<List<Status>>ask(done -> connection.port().exist(paths, done), answer -> {")
                    .and(
                            "internal/session/NodeChecks",
                            "then.accept(answer.ok() ? failed : Response.failed(answer.code(), answer.detail()));",
                            ""),
            Mutant.of(
                    "a barrier confirms requests whose nodes it has not checked",
                    HEARTBEAT,
                    "if (connection.connected()) {\n            checkedByBeat.addAll(confirming);",
                    "if (!connection.isOver()) {\n            checkedByBeat.addAll(confirming);"),
            Mutant.of(
                            "a repeated connection event counts as the first one",
                            SESSION,
                            "validity.connected();\n        } else {",
                            "heartbeat.probe();\n        } else {")
                    .caughtBy("HandlesTest#removedWatchOfABorrower_doesNotShortenItsValidity"),
            Mutant.of(
                    "a session that comes back counts from the report of its connection",
                    VALIDITY,
                    "asked.flatMap(known -> attempted.or(() -> connecting))",
                    "asked.map(known -> context.now().plus(margin()))"),
            Mutant.of(
                            "the loss of a shortened session is reported in the longer time",
                            VALIDITY,
                            "if (periodEnd.isSet()) {",
                            "if (present.isOver()) {")
                    .caughtBy("ServerSettingsTest#lossIsReportedInTheShorterTime_whenTheServerShortensTheSession"),
            Mutant.of(
                            "a denied downgrade takes the watch away",
                            "internal/request/Holding",
                            "downgrade = null;\n        if (watchesOwn) {",
                            "downgrade = null;\n        if (leases.isEmpty()) {")
                    .caughtBy("DowngradeTest#deniedDowngrade_leavesTheWatchOfTheWriter"),
            Mutant.of(
                    "an ended session counts as alive",
                    WIRE,
                    "case SESSION_EXPIRED -> listener.sessionOver();",
                    "case SESSION_EXPIRED -> listener.onDisconnected();"),
            Mutant.of(
                    "a reconnect without a barrier",
                    SESSION,
                    "if (first) {\n            onReconnected();",
                    "if (!first || first) {\n            onReconnected();"),
            Mutant.of(
                    "nothing goes on after a reconnect", WIRE, "waiting.forEach(context::execute);", "waiting.size();"),
            Mutant.of(
                    "a lost lease keeps its node's place",
                    "internal/request/Request",
                    "holding().lose(cause);",
                    "holding().notNotified();"),
            Mutant.of(
                    "released twice",
                    LEASE,
                    "if (!isValid() || !endBy(new End.Released())) {",
                    "if (!isValid() && !endBy(new End.Released())) {"),
            Mutant.of(
                    "no new session after the old one",
                    "internal/client/ClientCore",
                    "former.connection().port().close(() -> {});\n        context.execute(this::reopen);",
                    "former.connection().port().close(() -> {});"),
            Mutant.of(
                    "validity counted from the answer",
                    WIRE,
                    "proof.take(sent, context.now(), answer);",
                    "proof.take(context.now(), context.now(), answer);"));
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.path.CombinedReads;
import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.path.QueueReader;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The creation of the nodes of one attempt, all or none. The queues are read behind it in the same flight.
 *
 * <p>A missing path is created with its kind in the transaction of its first request. So no client sees a path without
 * a kind, and no path stays without ever having had a child, which the server would not delete (docs/protocol.md,
 * "Missing paths").
 */
final class NodeCreation {
    private static final Errors.Purpose CREATE = Errors.Purpose.toChange("create a request");

    private final Session session;
    private final Acquisition machine;
    private final Owner owner;
    private final List<QueueEntry> entries;
    private final String id;
    private final MissingPaths missing;

    /** How often in a row the server has throttled. */
    private int throttled;

    /**
     * The request whose nodes are created. It takes the event of that: created, lost, or given up before a create was
     * sent. One that has failed takes it as well, since its nodes may have been created.
     */
    interface Owner extends QueueEntry.Owner {
        /** The servers put the request off, or have taken it. */
        void throttled(boolean putOff);

        /** The nodes were not created, and the request fails. */
        void refused(LockException error);
    }

    NodeCreation(Session session, Acquisition machine, Owner owner, List<QueueEntry> entries) {
        this.session = session;
        this.machine = machine;
        this.owner = owner;
        this.entries = entries;
        this.id = machine.id();
        this.missing = new MissingPaths(session, entries);
    }

    /** A write of the transaction and its entry. */
    private record Step(QueueEntry entry, ZnodeStore.Write write) {}

    /** Sends the creation and the reads behind it, unless the session has no room for the nodes. */
    void start() {
        Optional<String> full = session.connection()
                .store()
                .fullFor(entries.stream().map(entry -> entry.prefix(id)).toList());
        if (full.isPresent()) {
            // Later: the machine is carrying out the command that led here.
            session.context().execute(() -> {
                if (!session.connection().isOver()) {
                    notCreated(entries.get(0), Response.failed(Status.SESSION_FULL, full.get()));
                }
            });
            return;
        }
        creating();
        if (entries.size() == 1 && missing.isEmpty()) {
            QueueEntry only = entries.get(0);
            session.connection()
                    .<ZnodeStore.CreatedNode>askCommitted(
                            then -> session.connection()
                                    .store()
                                    .create(only.prefix(id), session.context().ownerData(only.label()), then),
                            answer -> {
                                noLongerCreating();
                                created(only, answer);
                            });
        } else {
            List<Step> steps = steps();
            session.connection().writeOnce(steps.stream().map(Step::write).toList(), answer -> {
                noLongerCreating();
                created(steps, answer);
            });
        }
        Map<QueueMember, QueueReader> there = new LinkedHashMap<>();
        for (QueueEntry entry : entries) {
            if (!missing.contains(entry)) {
                there.put(entry, entry.sessionQueue().reader());
            }
        }
        CombinedReads.behindCreatesOf(there, session);
    }

    private void creating() {
        entries.forEach(entry -> entry.sessionQueue().creating());
    }

    private void noLongerCreating() {
        entries.forEach(entry -> entry.sessionQueue().noLongerCreating());
    }

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (QueueEntry entry : entries) {
            if (missing.contains(entry)) {
                steps.add(new Step(
                        entry, new ZnodeStore.Write.CreatePath(entry.path().node(), lifetime(entry))));
                if (!entry.sessionQueue().naming().isShared()) {
                    steps.add(new Step(
                            entry,
                            new ZnodeStore.Write.SetData(
                                    entry.path().node(), entry.purpose().bytes(), 0)));
                }
            }
            steps.add(new Step(
                    entry,
                    new ZnodeStore.Write.CreateRequest(
                            entry.prefix(id), session.context().ownerData(entry.label()))));
        }
        return steps;
    }

    private static ZnodeStore.Lifetime lifetime(QueueEntry entry) {
        return entry.sessionQueue().naming().keepsEmptyPaths()
                ? ZnodeStore.Lifetime.FOR_EVER
                : ZnodeStore.Lifetime.WHILE_USED;
    }

    private void created(QueueEntry only, Response<ZnodeStore.CreatedNode> answer) {
        switch (answer.code()) {
            case OK -> arrived(List.of(answer.get()));
            case NO_NODE -> prepare(only, MissingPaths.Refusal.PATH_MISSING);
            default -> notCreated(only, answer);
        }
    }

    private void created(List<Step> steps, Response<ZnodeStore.TransactionResult> answer) {
        if (!answer.ok()) {
            notCreated(entries.get(0), answer);
            return;
        }
        if (answer.get().failedAt().isEmpty()) {
            arrived(answer.get().created());
            return;
        }
        ZnodeStore.Refusal refusal = answer.get().failedAt().get();
        Step refused = steps.get(refusal.index());
        QueueEntry entry = refused.entry();
        boolean ofPath = refused.write() instanceof ZnodeStore.Write.CreatePath;
        if (refusal.code() == Status.NO_NODE) {
            prepare(entry, ofPath ? MissingPaths.Refusal.LEVEL_MISSING : MissingPaths.Refusal.PATH_MISSING);
        } else if (refusal.code() == Status.NODE_EXISTS && ofPath) {
            prepare(entry, MissingPaths.Refusal.PATH_EXISTS);
        } else {
            notCreated(entry, Response.failed(refusal.code(), refusal.detail()));
        }
    }

    private void prepare(QueueEntry entry, MissingPaths.Refusal refusal) {
        creating();
        missing.prepare(entry, refusal, result -> {
            if (result.levels().ok()) {
                // The reads of the look may have been lost.
                session.connection().whenConnected(() -> {
                    noLongerCreating();
                    again();
                });
                return;
            }
            noLongerCreating();
            if (result.levels().code() == Status.NO_NODE) {
                owner.refused(Errors.noChroot(result.entry().path().shown()));
            } else {
                notCreated(result.entry(), result.levels());
            }
        });
    }

    /**
     * Refuses a request for more permits than the declared capacity of a path that it would create, as no queue is read
     * that would show it.
     */
    private boolean refusesPermits() {
        for (QueueEntry entry : missing.entries()) {
            int permits = entry.recipe().permits();
            int capacity = entry.purpose().capacity();
            if (permits > capacity) {
                missing.leave();
                owner.refused(Errors.tooMany(entry.path().shown(), permits, capacity));
                return true;
            }
        }
        return false;
    }

    /** Tries again after a pause, as the server throttles: nothing was created. */
    private void tryLater() {
        owner.throttled(true);
        creating();
        Connection connection = session.connection();
        connection.afterThrottling(
                throttled++,
                () -> connection.whenConnected(() -> {
                    noLongerCreating();
                    again();
                }));
    }

    private void again() {
        if (machine.state() == State.ABANDONING) {
            missing.leave();
            owner.on(new Event.CreateRefused());
        } else if (!refusesPermits()) {
            start();
        }
    }

    private void arrived(List<ZnodeStore.CreatedNode> nodes) {
        List<NodeName> names = new ArrayList<>(entries.size());
        long zxid = Event.Created.UNKNOWN_TOKEN;
        Naming naming = session.context().naming();
        for (ZnodeStore.CreatedNode node : nodes) {
            naming.parse(node.name()).filter(name -> name.id().equals(id)).ifPresent(names::add);
            zxid = node.czxid();
        }
        if (names.size() != entries.size()) {
            refuseUnreadable(nodes);
            return;
        }
        Set<Integer> alone = new HashSet<>();
        for (QueueEntry entry : missing.entries()) {
            entry.sessionQueue().reader().made(entry.purpose(), zxid);
            alone.add(entry.index());
        }
        owner.throttled(false);
        owner.on(new Event.Created(names, alone, zxid));
    }

    /**
     * Withdraws nodes with unreadable names and fails the request: no client would count these nodes or wait for them.
     */
    private void refuseUnreadable(List<ZnodeStore.CreatedNode> nodes) {
        for (QueueEntry entry : entries) {
            for (ZnodeStore.CreatedNode node : nodes) {
                if (entry.path().child(node.name()).startsWith(entry.prefix(id))) {
                    NodeName unread = new NodeName(
                            entry.recipe().tag(), id, entry.recipe().permits(), Integer.MAX_VALUE, node.name());
                    entry.sessionQueue().deletions().withdraw(unread);
                }
            }
        }
        owner.refused(Errors.unreadable(entries.get(0).path().shown(), nodes));
    }

    private void notCreated(QueueEntry entry, Response<?> answer) {
        missing.leave();
        String displayPath = entry.path().shown();
        switch (answer.code()) {
            case CONNECTION_LOSS, READ_ONLY -> owner.on(new Event.CreateLost());
            case THROTTLED -> tryLater();
            case UNCLEAR -> {
                owner.fail(Errors.of(displayPath, CREATE, answer));
                owner.on(new Event.CreateLost());
            }
            case NO_CHILDREN -> owner.refused(Errors.ephemeralParent(displayPath));
            default -> owner.refused(Errors.of(displayPath, CREATE, answer));
        }
    }
}

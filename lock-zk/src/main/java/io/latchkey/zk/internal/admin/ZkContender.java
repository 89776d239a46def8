// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Owner;
import io.latchkey.lock.admin.Contender;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A request in the queue as this client saw it, and an administrator's actions on exactly that request. */
record ZkContender(
        State state,
        Owner owner,
        long session,
        Instant requestedAt,
        long token,
        int permits,
        boolean isOwn,
        SeenRequest at)
        implements Contender {
    private static final Errors.Purpose ASK = Errors.Purpose.toChange("request a release");
    private static final Errors.Purpose EVICT = Errors.Purpose.toChange("evict a request");

    /** The client, the path at which the request was seen, and the naming of requests there. */
    record SeenRequest(Engine engine, LockPath path, Naming naming, NodeName name) {
        @Override
        public String toString() {
            return path.shown() + '/' + name.text();
        }
    }

    @Override
    public Access access() {
        return switch (at.name().tag()) {
            case WRITE -> Access.EXCLUSIVE;
            case READ -> Access.SHARED;
            case LEASE -> Access.PERMITS;
        };
    }

    /** Compares names, whose ids are unique, since paths depend on the chroot of the client that reads them. */
    @Override
    public boolean isOf(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease instanceof ZkLease held
                && held.nodePaths().stream()
                        .map(LockPath::nameOf)
                        .anyMatch(node -> node.equals(at.name().text())
                                || downgraded(at.name())
                                        .filter(reader -> node.equals(reader.text()))
                                        .isPresent());
    }

    /**
     * One transaction checks that the request exists, and writes the asking client's owner data to its revocation node.
     */
    @Override
    public ReleaseRequestResult requestRelease() throws InterruptedException {
        checkIsOfASession();
        return at.engine().queries().ask(at.path(), ASK, (session, then) -> ask(session, at.name(), then));
    }

    private void ask(Session session, NodeName name, CompletableFuture<ReleaseRequestResult> then) {
        List<ZnodeStore.Write> writes = List.of(
                new ZnodeStore.Write.Check(pathOf(name.text())),
                new ZnodeStore.Write.SetData(
                        pathOf(name.revocationNode()), at.engine().context().ownerData(), ZnodeStore.ANY_VERSION));
        session.connection().write(() -> !then.isDone(), writes, answer -> {
            Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
            if (plain.ok()) {
                then.complete(ReleaseRequestResult.STORED);
            } else if (plain.code() != Status.NO_NODE) {
                fail(ASK, plain, then);
            } else if (answer.get().failedAt().orElseThrow().index() > 0) {
                then.complete(ReleaseRequestResult.NOT_LISTENING);
            } else {
                downgraded(name)
                        .ifPresentOrElse(
                                reader -> ask(session, reader, then), () -> then.complete(ReleaseRequestResult.GONE));
            }
        });
    }

    /** Deletes without a mark, so that the deletion does not count as a release: the successor lists the queue. */
    @Override
    public Eviction evict() throws InterruptedException {
        checkIsOfASession();
        return at.engine().queries().ask(at.path(), EVICT, (session, then) -> delete(session, at.name(), then));
    }

    /**
     * Refuses a readable node that no session has, in a shared layout: names there are so simple that it may be data of
     * an application, and so may a node with the name of its revocation node.
     */
    private void checkIsOfASession() {
        if (at.naming().isShared() && session == 0 && token != 0) {
            throw Errors.persistentRequest(pathOf(at.name().text()));
        }
    }

    private void delete(Session session, NodeName name, CompletableFuture<Eviction> then) {
        session.connection()
                .write(() -> !then.isDone(), List.of(new ZnodeStore.Write.Delete(pathOf(name.text()))), answer -> {
                    Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
                    if (plain.ok()) {
                        then.complete(Eviction.EVICTED);
                    } else if (plain.code() != Status.NO_NODE) {
                        fail(EVICT, plain, then);
                    } else {
                        downgraded(name)
                                .ifPresentOrElse(
                                        reader -> delete(session, reader, then), () -> then.complete(Eviction.GONE));
                    }
                });
    }

    /** Returns the reader that may have replaced a missing writer; it is the same request. No mutex has one. */
    private Optional<NodeName> downgraded(NodeName name) {
        return name.tag() == Tag.WRITE && !name.overflowed()
                ? Optional.of(at.naming().inPlace(name, Tag.READ))
                : Optional.empty();
    }

    private void fail(Errors.Purpose purpose, Response<?> why, CompletableFuture<?> then) {
        then.completeExceptionally(Errors.of(at.path().shown(), purpose, why));
    }

    private String pathOf(String child) {
        return at.path().child(child);
    }
}

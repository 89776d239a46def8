// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.CreateOptions;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The store that uses ZooKeeper's own client: every request of the locks. {@link SessionHandle} has what its handle
 * reports of the session.
 */
public final class ZooKeeperStore implements ZnodeStore {
    private final SessionHandle handle;
    private final ZooKeeper zooKeeper;
    private final List<ACL> acl;
    private final Executor handles;
    /** Opened the handle; null if it is borrowed. */
    private final @Nullable HandleOpener opener;

    private ZooKeeperStore(SessionHandle handle, @Nullable HandleOpener opener, List<ACL> acl, Executor handles) {
        this.handle = handle;
        this.zooKeeper = handle.zooKeeper();
        this.opener = opener;
        // ZooKeeper's client asks whether it contains null, which an immutable list answers by throwing.
        this.acl = new ArrayList<>(acl);
        this.handles = handles;
    }

    /**
     * Opens a new session, which this store owns.
     *
     * @param handles closes the handle
     */
    public static ZooKeeperStore open(HandleOpener opener, List<ACL> acl, Executor handles, Listener listener)
            throws IOException {
        return new ZooKeeperStore(new SessionHandle(opener, handles, listener), opener, acl, handles);
    }

    /** Returns a store for the session of a handle that the caller owns. */
    public static ZooKeeperStore borrow(ZooKeeper handle, List<ACL> acl, Executor handles, Listener listener) {
        return new ZooKeeperStore(SessionHandle.borrow(handle, handles, listener), null, acl, handles);
    }

    public ZooKeeper zooKeeper() {
        return zooKeeper;
    }

    private AsyncCallback.Create2Callback created(Consumer<Response<CreatedNode>> then) {
        return (rc, path, ctx, name, stat) ->
                handle.deliver(() -> then.accept(ZooKeeperResults.created(rc, name, stat)));
    }

    private AsyncCallback.Children2Callback listing(Consumer<Response<Listing>> then) {
        return (rc, path, ctx, children, stat) ->
                handle.deliver(() -> then.accept(ZooKeeperResults.listing(rc, children, stat)));
    }

    private AsyncCallback.DataCallback nodeData(Consumer<Response<NodeData>> then) {
        return (rc, path, ctx, data, stat) ->
                handle.deliver(() -> then.accept(ZooKeeperResults.nodeData(rc, data, stat)));
    }

    @Override
    public SessionNodes nodes() {
        return handle.nodes();
    }

    /**
     * Creates it by a transaction while the length of a borrowed handle's chroot is unknown: only the results of
     * transactions have paths as the servers have them.
     */
    @Override
    public void create(String path, byte[] data, Consumer<Response<CreatedNode>> then) {
        if (!handle.nodes().chrootKnown()) {
            write(List.of(new Write.CreateRequest(path, data)), answer -> then.accept(alone(answer)));
            return;
        }
        zooKeeper.create(path, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL, created(then), null);
    }

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        zooKeeper.getChildren(path, false, listing(then), null);
    }

    /**
     * Lists several nodes. A list that is read together with others comes without its Stat. So the node's data is read
     * before and after it: if one transaction wrote both, the data at the time of the list was the same.
     */
    @Override
    public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
        List<Op> ops = new ArrayList<>();
        for (String path : paths) {
            Op data = Op.getData(path);
            ops.addAll(List.of(data, Op.getChildren(path), data));
        }
        zooKeeper.multi(
                ops,
                (rc, path, ctx, results) -> handle.deliver(() -> then.accept(ZooKeeperResults.listings(rc, results))),
                null);
    }

    /**
     * Checks by lists, which are short: a request's node has no children. The server looks for a node before it checks
     * rights.
     */
    @Override
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        zooKeeper.multi(
                paths.stream().map(Op::getChildren).toList(),
                (rc, path, ctx, results) -> handle.deliver(() -> then.accept(ZooKeeperResults.codes(rc, results))),
                null);
    }

    @Override
    public long session() {
        return handle.session();
    }

    @Override
    public int longestAnswer() {
        return zooKeeper.getClientConfig().getInt(ZKConfig.JUTE_MAXBUFFER, ZOOKEEPERS_LONGEST_ANSWER);
    }

    @Override
    public void sync(String path, Consumer<Response<String>> then) {
        zooKeeper.sync(path, (rc, of, ctx) -> handle.deliver(() -> then.accept(ZooKeeperResults.synced(rc, of))), null);
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        zooKeeper.getData(path, false, nodeData(then), null);
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        zooKeeper.getData(path, handle.watcher(), nodeData(then), null);
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        zooKeeper.getChildren(path, handle.watcher(), listing(then), null);
    }

    @Override
    public void removeWatches(String path, Runnable then) {
        handle.removeWatches(path, then);
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<TransactionResult>> then) {
        List<Op> ops = writes.stream().map(this::op).toList();
        zooKeeper.multi(
                ops,
                (rc, path, ctx, results) -> handle.deliver(() -> {
                    Response<TransactionResult> answer = ZooKeeperResults.written(rc, results);
                    if (answer.ok() && !handle.nodes().chrootKnown()) {
                        noteChroot(ops, results);
                    }
                    then.accept(answer);
                }),
                null);
    }

    private void noteChroot(List<Op> ops, List<OpResult> results) {
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof OpResult.CreateResult created) {
                handle.nodes().created(ops.get(i).getPath(), created.getPath());
            }
        }
    }

    private static Response<CreatedNode> alone(Response<TransactionResult> answer) {
        if (!answer.ok()) {
            return Response.failed(answer.code(), answer.detail());
        }
        return answer.get()
                .failedAt()
                .map(refusal -> Response.<CreatedNode>failed(refusal.code(), refusal.detail()))
                .orElseGet(() -> Response.of(answer.get().created().get(0)));
    }

    @Override
    public void makeRoot(Consumer<Response<Boolean>> then) {
        if (opener == null) {
            ZnodeStore.super.makeRoot(then);
        } else {
            opener.makeRoot(acl, handles, () -> !handle.isClosing(), then);
        }
    }

    @Override
    public void close(Runnable then) {
        // What is sent for the chroot through another handle is over then as well.
        handle.close(opener == null ? then : () -> opener.onceNoRootIsMade(then));
    }

    @Override
    public boolean answersOn(Thread thread) {
        return handle.answersOn(thread);
    }

    /** Returns the operation of a transaction, with the client's ACL. */
    public Op op(Write write) {
        if (write instanceof Write.CreatePath create) {
            CreateMode mode = create.lifetime() == Lifetime.FOR_EVER ? CreateMode.PERSISTENT : CreateMode.CONTAINER;
            return Op.create(create.path(), ZooKeeperResults.EMPTY, acl, mode);
        } else if (write instanceof Write.CreateRequest create) {
            return Op.create(create.path(), create.data(), options(CreateMode.EPHEMERAL_SEQUENTIAL));
        } else if (write instanceof Write.CreateNode create) {
            return Op.create(create.path(), create.data(), options(CreateMode.EPHEMERAL));
        } else if (write instanceof Write.Mark mark) {
            return Op.setData(mark.path(), ZooKeeperResults.EMPTY, ANY_VERSION);
        } else if (write instanceof Write.SetData set) {
            return Op.setData(set.path(), set.data(), set.version());
        } else if (write instanceof Write.Delete delete) {
            return Op.delete(delete.path(), ANY_VERSION);
        }
        Write.Check check = (Write.Check) write;
        return Op.check(check.path(), ANY_VERSION);
    }

    private CreateOptions options(CreateMode mode) {
        return CreateOptions.newBuilder(acl, mode).build();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.collect.Maps;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.store.ZnodeStore.CreatedNode;
import io.latchkey.zk.internal.store.ZnodeStore.Listing;
import io.latchkey.zk.internal.store.ZnodeStore.NodeData;
import io.latchkey.zk.internal.store.ZnodeStore.Refusal;
import io.latchkey.zk.internal.store.ZnodeStore.TransactionResult;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The results of ZooKeeper's client as responses of a store: the only place that knows its codes and classes. */
public final class ZooKeeperResults {
    /** The data of a node that has none. */
    static final byte[] EMPTY = new byte[0];
    /** A list stands between two reads of the path's data. */
    private static final int READS_OF_A_LIST = 3;
    /** A server may answer with a code that its client does not know. ZooKeeper's own look-up throws then. */
    private static final Map<Integer, KeeperException.Code> CODES =
            Maps.uniqueIndex(EnumSet.allOf(KeeperException.Code.class), KeeperException.Code::intValue);

    private ZooKeeperResults() {}

    /**
     * Converts the results. The code is that of the first read that was refused; in that case there are results as
     * well.
     */
    static Response<List<Response<Listing>>> listings(int rc, @Nullable List<OpResult> results) {
        if (results == null) {
            return Response.failed(status(rc), word(rc));
        }
        List<Response<Listing>> listings = new ArrayList<>();
        for (int i = 0; i < results.size(); i += READS_OF_A_LIST) {
            listings.add(listing(results.get(i), results.get(i + 1), results.get(i + 2)));
        }
        return Response.of(listings);
    }

    static Response<Listing> listing(OpResult before, OpResult list, OpResult behind) {
        for (OpResult read : List.of(before, list, behind)) {
            if (read instanceof OpResult.ErrorResult refused) {
                return Response.failed(status(refused.getErr()), word(refused.getErr()));
            }
        }
        long mzxid = ((OpResult.GetDataResult) before).getStat().getMzxid();
        boolean same = mzxid == ((OpResult.GetDataResult) behind).getStat().getMzxid();
        return Response.of(new Listing(((OpResult.GetChildrenResult) list).getChildren(), same ? mzxid : -1));
    }

    /**
     * Converts the results. The code is that of the first read that was refused; in that case there are results as
     * well.
     */
    static Response<List<Status>> codes(int rc, @Nullable List<OpResult> results) {
        if (results == null) {
            return Response.failed(status(rc), word(rc));
        }
        List<Status> codes = new ArrayList<>(results.size());
        for (OpResult result : results) {
            codes.add(result instanceof OpResult.ErrorResult refused ? status(refused.getErr()) : Status.OK);
        }
        return Response.of(codes);
    }

    /**
     * Converts the results of a transaction. The quorum has committed a failed one as well, so it counts as a response,
     * with the write that failed. The exception is a failure because the leader is ending the session, or knows it at
     * another server: that proves nothing else.
     */
    static Response<TransactionResult> written(int rc, List<OpResult> results) {
        if (rc == KeeperException.Code.OK.intValue()) {
            return Response.of(new TransactionResult(created(results), Optional.empty()));
        }
        if (results != null) {
            for (int i = 0; i < results.size(); i++) {
                if (results.get(i) instanceof OpResult.ErrorResult error
                        && error.getErr() != KeeperException.Code.OK.intValue()
                        && error.getErr() != KeeperException.Code.RUNTIMEINCONSISTENCY.intValue()) {
                    Status code = status(error.getErr());
                    return code == Status.SESSION_EXPIRED || code == Status.CONNECTION_LOSS
                            ? Response.failed(code, word(error.getErr()))
                            : Response.of(new TransactionResult(
                                    List.of(),
                                    Optional.of(new Refusal(i, ofRefused(error.getErr()), word(error.getErr())))));
                }
            }
            return Response.failed(ofRefused(rc), word(rc));
        }
        return Response.failed(status(rc), word(rc));
    }

    /**
     * Returns the nodes that a transaction created. All its changes have one zxid, so any Stat in the results has it.
     * Not every server returns the Stat of a create, and a handle with a chroot does not either (3.9.5 falls back to
     * the old form).
     */
    private static List<CreatedNode> created(List<OpResult> results) {
        long zxid = 0;
        for (OpResult result : results) {
            if (result instanceof OpResult.SetDataResult set) {
                zxid = set.getStat().getMzxid();
            } else if (result instanceof OpResult.CreateResult node && node.getStat() != null) {
                zxid = node.getStat().getCzxid();
            }
        }
        List<CreatedNode> created = new ArrayList<>(1);
        for (OpResult result : results) {
            if (result instanceof OpResult.CreateResult node) {
                created.add(new CreatedNode(LockPath.nameOf(node.getPath()), zxid));
            }
        }
        return created;
    }

    static Response<CreatedNode> created(int rc, String name, Stat stat) {
        return answer(rc, () -> new CreatedNode(LockPath.nameOf(name), stat.getCzxid()));
    }

    static Response<String> synced(int rc, String path) {
        return answer(rc, () -> path);
    }

    static Response<Listing> listing(int rc, List<String> children, Stat stat) {
        return answer(rc, () -> new Listing(children, stat.getMzxid()));
    }

    static Response<NodeData> nodeData(int rc, byte @Nullable [] data, Stat stat) {
        return answer(
                rc,
                () -> new NodeData(
                        data == null ? EMPTY : data,
                        stat.getCzxid(),
                        stat.getMzxid(),
                        stat.getVersion(),
                        stat.getCtime(),
                        stat.getNumChildren(),
                        stat.getEphemeralOwner()));
    }

    private static <T> Response<T> answer(int rc, Supplier<T> value) {
        return rc == KeeperException.Code.OK.intValue()
                ? Response.of(value.get())
                : Response.failed(status(rc), word(rc));
    }

    private static String word(int rc) {
        KeeperException.Code code = CODES.get(rc);
        return code == null ? "error " + rc : code.name();
    }

    /**
     * Returns the result of a failed write. A transaction of which the single results are known was refused
     * as a whole, whatever its code.
     */
    public static Status status(KeeperException failed) {
        int code = failed.code().intValue();
        return failed.getResults() == null ? status(code) : ofRefused(code);
    }

    /** Converts a code of a transaction that was not applied. */
    static Status ofRefused(int rc) {
        Status status = status(rc);
        return status.outcome() == Status.Outcome.OPEN ? Status.OTHER : status;
    }

    /** Converts ZooKeeper's codes; the only place that does. */
    @SuppressWarnings("deprecation") // The switch has to be exhaustive.
    static Status status(int rc) {
        KeeperException.Code code = CODES.get(rc);
        if (code == null) {
            return Status.UNCLEAR;
        }
        return switch (code) {
            case OK -> Status.OK;
            case NONODE -> Status.NO_NODE;
            case NODEEXISTS -> Status.NODE_EXISTS;
            case NOTEMPTY -> Status.NOT_EMPTY;
            case BADVERSION -> Status.BAD_VERSION;
            case NOAUTH -> Status.NO_AUTH;
            case NOCHILDRENFOREPHEMERALS -> Status.NO_CHILDREN;
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> Status.CONNECTION_LOSS;
            case SESSIONEXPIRED, UNKNOWNSESSION -> Status.SESSION_EXPIRED;
            case AUTHFAILED, SESSIONCLOSEDREQUIRESASLAUTH -> Status.LOGIN_REFUSED;
            case NOTREADONLY -> Status.READ_ONLY;
            case THROTTLEDOP -> Status.THROTTLED;
            // A server reports an error in its answer to an applied request as MARSHALLINGERROR, too.
            case SYSTEMERROR, RUNTIMEINCONSISTENCY, DATAINCONSISTENCY, MARSHALLINGERROR -> Status.UNCLEAR;
            case UNIMPLEMENTED,
                    BADARGUMENTS,
                    NEWCONFIGNOQUORUM,
                    RECONFIGINPROGRESS,
                    APIERROR,
                    INVALIDCALLBACK,
                    INVALIDACL,
                    EPHEMERALONLOCALSESSION,
                    NOWATCHER,
                    RECONFIGDISABLED,
                    QUOTAEXCEEDED -> Status.OTHER;
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Responses that servers give seldom or never, or only in a state that no test can produce. */
class ZooKeeperResultsTest {
    private static final OpResult LIST = new OpResult.GetChildrenResult(List.of("child"));

    @Test
    void listIsConsistent_betweenTwoReadsOfTheSameData() {
        ZnodeStore.Listing read =
                ZooKeeperResults.listing(dataOf(7), LIST, dataOf(7)).get();
        assertEquals(new ZnodeStore.Listing(List.of("child"), 7), read);
    }

    @Test
    void listIsInconsistent_whenTheDataChanges() {
        ZnodeStore.Listing read =
                ZooKeeperResults.listing(dataOf(7), LIST, dataOf(8)).get();
        assertEquals(new ZnodeStore.Listing(List.of("child"), -1), read);
    }

    @Test
    void listIsRefused_whenAnyOfItsReadsIs() {
        OpResult refused = new OpResult.ErrorResult(KeeperException.Code.NONODE.intValue());
        assertEquals(
                Status.NO_NODE,
                ZooKeeperResults.listing(dataOf(7), LIST, refused).code());
        assertEquals(
                Status.NO_NODE,
                ZooKeeperResults.listing(refused, refused, refused).code());
    }

    /** Of a node that was created with null for its data, which ZooKeeper's own API allows. */
    @Test
    void dataIsEmpty_whenTheNodeHasNoData() {
        assertArrayEquals(
                new byte[0],
                ZooKeeperResults.nodeData(KeeperException.Code.OK.intValue(), null, new Stat())
                        .get()
                        .data());
    }

    /** All numbers differ, as those of a holder's node that was written to when it notified its successor. */
    @Test
    void nodeIsThatOfItsStat() {
        ZnodeStore.NodeData read = ZooKeeperResults.nodeData(
                        KeeperException.Code.OK.intValue(), new byte[] {9}, new Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
                .get();
        assertArrayEquals(new byte[] {9}, read.data());
        assertEquals(List.of(1L, 2L, 3L), List.of(read.czxid(), read.mzxid(), read.ctimeMillis()));
        assertEquals(List.of(5, 10), List.of(read.version(), read.children()));
        assertEquals(8, read.session());
    }

    /** The response of a leader that is ending the session and has not announced it yet. */
    @Test
    void transactionRefusedByTheEndOfTheSession_isNoResponse() {
        assertEquals(
                Status.SESSION_EXPIRED,
                refusedBy(KeeperException.Code.SESSIONEXPIRED).code());
        assertEquals(
                Status.CONNECTION_LOSS,
                refusedBy(KeeperException.Code.SESSIONMOVED).code());
        assertTrue(refusedBy(KeeperException.Code.NONODE).ok());
    }

    /** All its writes have the code of those behind a refused one. */
    @Test
    void transactionIsRefused_whenNoWriteOfItIsNamed() {
        assertEquals(
                Status.OTHER,
                refusedBy(KeeperException.Code.RUNTIMEINCONSISTENCY).code());
    }

    /** Whatever a server calls it: a request without a response may be carried out, and one of an ended session not. */
    @ParameterizedTest
    @CsvSource({
        "CONNECTIONLOSS, CONNECTION_LOSS",
        "OPERATIONTIMEOUT, CONNECTION_LOSS",
        "REQUESTTIMEOUT, CONNECTION_LOSS",
        "SESSIONEXPIRED, SESSION_EXPIRED",
        "UNKNOWNSESSION, SESSION_EXPIRED",
        "AUTHFAILED, LOGIN_REFUSED",
        "SESSIONCLOSEDREQUIRESASLAUTH, LOGIN_REFUSED",
        "NOTREADONLY, READ_ONLY",
        "THROTTLEDOP, THROTTLED"
    })
    void codeIsTakenForWhatItMeans(KeeperException.Code code, Status meaning) {
        assertEquals(meaning, ZooKeeperResults.status(code.intValue()));
    }

    /**
     * All codes of ZooKeeper, in three groups: those by which it is open whether a request was executed, those of a
     * server that would execute it later, and all others, by which it was refused.
     */
    @ParameterizedTest
    @EnumSource(KeeperException.Code.class)
    @SuppressWarnings("deprecation") // Servers of old versions are asked as well.
    void outcomeIsThatOfTheCode(KeeperException.Code code) {
        Status.Outcome expected =
                switch (code) {
                    case OK -> Status.Outcome.DONE;
                    case CONNECTIONLOSS,
                            OPERATIONTIMEOUT,
                            REQUESTTIMEOUT,
                            SESSIONMOVED,
                            SESSIONEXPIRED,
                            UNKNOWNSESSION,
                            AUTHFAILED,
                            SESSIONCLOSEDREQUIRESASLAUTH,
                            SYSTEMERROR,
                            RUNTIMEINCONSISTENCY,
                            DATAINCONSISTENCY,
                            MARSHALLINGERROR -> Status.Outcome.OPEN;
                    case THROTTLEDOP, NOTREADONLY -> Status.Outcome.NOT_EXECUTED;
                    default -> Status.Outcome.REFUSED;
                };
        assertEquals(expected, ZooKeeperResults.status(code.intValue()).outcome());
        if (code != KeeperException.Code.OK && code != KeeperException.Code.UNKNOWNSESSION) {
            assertEquals(
                    expected,
                    ZooKeeperResults.status(KeeperException.create(code)).outcome());
        }
        String told = Errors.refused("/m", Response.failed(ZooKeeperResults.status(code.intValue()), code.name()))
                .getMessage();
        boolean nothing = expected == Status.Outcome.NOT_EXECUTED || expected == Status.Outcome.REFUSED;
        assertEquals(nothing, told.contains("Nothing was changed"), told);
    }

    /** ZooKeeper's client has results only of a transaction that was refused as a whole. */
    @ParameterizedTest
    @EnumSource(KeeperException.Code.class)
    void nothingWasWritten_whenATransactionHasResults(KeeperException.Code code) {
        assumeTrue(code != KeeperException.Code.OK, "is no error");
        assertNotEquals(
                Status.Outcome.OPEN, ZooKeeperResults.ofRefused(code.intValue()).outcome());
    }

    /** The transaction was refused as a whole, whatever the code of its single write says. */
    @Test
    void transactionWasRefused_whenAWriteOfItHasAnUnknownCode() {
        OpResult strange = new OpResult.ErrorResult(-12345);
        ZnodeStore.Refusal refusal = ZooKeeperResults.written(-12345, List.of(strange))
                .get()
                .failedAt()
                .orElseThrow();
        assertEquals(new ZnodeStore.Refusal(0, Status.OTHER, "error -12345"), refusal);
    }

    /** A newer server may have codes that this client does not know. */
    @Test
    void unknownCodeIsShownAsItsNumber() {
        assertEquals(
                Response.failed(Status.UNCLEAR, "error -12345"), ZooKeeperResults.nodeData(-12345, null, new Stat()));
    }

    // ---- results of several requests

    private static final int OK = KeeperException.Code.OK.intValue();
    private static final int LOST = KeeperException.Code.CONNECTIONLOSS.intValue();

    @Test
    void eachListHasAResponseOfItsOwn() {
        OpResult gone = new OpResult.ErrorResult(KeeperException.Code.NONODE.intValue());
        List<Response<ZnodeStore.Listing>> read = ZooKeeperResults.listings(
                        KeeperException.Code.NONODE.intValue(),
                        List.of(dataOf(7), LIST, dataOf(7), gone, gone, gone, dataOf(8), LIST, dataOf(9)))
                .get();
        assertEquals(
                List.of(
                        Response.of(new ZnodeStore.Listing(List.of("child"), 7)),
                        Response.failed(Status.NO_NODE, "NONODE"),
                        Response.of(new ZnodeStore.Listing(List.of("child"), -1))),
                read);
        assertEquals(Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS"), ZooKeeperResults.listings(LOST, null));
    }

    @Test
    void eachNodeHasACodeOfItsOwn() {
        OpResult gone = new OpResult.ErrorResult(KeeperException.Code.NONODE.intValue());
        assertEquals(
                List.of(Status.OK, Status.NO_NODE),
                ZooKeeperResults.codes(KeeperException.Code.NONODE.intValue(), List.of(dataOf(7), gone))
                        .get());
        assertEquals(Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS"), ZooKeeperResults.codes(LOST, null));
    }

    /** Whichever result has a Stat, all changes of the transaction have its zxid. */
    @Test
    void createdNodesHaveTheZxidOfTheirTransaction() {
        Stat stat = new Stat();
        stat.setCzxid(5);
        stat.setMzxid(6);
        OpResult plain = new OpResult.CreateResult("/m/write-1");
        assertEquals(
                List.of(new ZnodeStore.CreatedNode("write-1", 6)),
                ZooKeeperResults.written(OK, List.of(new OpResult.SetDataResult(stat), plain))
                        .get()
                        .created());
        assertEquals(
                List.of(new ZnodeStore.CreatedNode("m", 5), new ZnodeStore.CreatedNode("write-1", 5)),
                ZooKeeperResults.written(OK, List.of(new OpResult.CreateResult("/m", stat), plain))
                        .get()
                        .created());
        assertEquals(
                List.of(),
                ZooKeeperResults.written(OK, List.of(new OpResult.CheckResult()))
                        .get()
                        .created());
        assertEquals(
                new ZnodeStore.CreatedNode("write-2", 5),
                ZooKeeperResults.created(OK, "/m/write-2", stat).get());
    }

    @Test
    void writeThatWasRefusedIsTheFirstWithACodeOfItsOwn() {
        ZnodeStore.Refusal refusal = ZooKeeperResults.written(
                        KeeperException.Code.NOAUTH.intValue(),
                        List.of(
                                new OpResult.ErrorResult(OK),
                                new OpResult.ErrorResult(KeeperException.Code.NOAUTH.intValue()),
                                new OpResult.ErrorResult(KeeperException.Code.RUNTIMEINCONSISTENCY.intValue())))
                .get()
                .failedAt()
                .orElseThrow();
        assertEquals(new ZnodeStore.Refusal(1, Status.NO_AUTH, "NOAUTH"), refusal);
        assertEquals(Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS"), ZooKeeperResults.written(LOST, null));
    }

    @Test
    void answersToSingleRequests() {
        Stat stat = new Stat();
        stat.setMzxid(6);
        assertEquals("/m", ZooKeeperResults.synced(OK, "/m").get());
        assertEquals(
                new ZnodeStore.Listing(List.of("child"), 6),
                ZooKeeperResults.listing(OK, List.of("child"), stat).get());
        assertEquals(Status.CONNECTION_LOSS, ZooKeeperResults.synced(LOST, "/m").code());
    }

    private static Response<ZnodeStore.TransactionResult> refusedBy(KeeperException.Code code) {
        OpResult refused = new OpResult.ErrorResult(code.intValue());
        OpResult further = new OpResult.ErrorResult(KeeperException.Code.RUNTIMEINCONSISTENCY.intValue());
        return ZooKeeperResults.written(code.intValue(), List.of(refused, further));
    }

    private static OpResult dataOf(long mzxid) {
        Stat stat = new Stat();
        stat.setMzxid(mzxid);
        return new OpResult.GetDataResult(new byte[0], stat);
    }
}

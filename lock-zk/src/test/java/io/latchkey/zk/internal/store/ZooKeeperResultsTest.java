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

    /** A newer server may have codes that this client does not know. */
    @Test
    void unknownCodeIsShownAsItsNumber() {
        assertEquals(
                Response.failed(Status.UNCLEAR, "error -12345"), ZooKeeperResults.nodeData(-12345, null, new Stat()));
    }

    private static Response<ZnodeStore.Written> refusedBy(KeeperException.Code code) {
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

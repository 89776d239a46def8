// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What paths and requests say of themselves. The bytes are a format: changing them locks out older clients. */
class DataTest {
    @Test
    void aPathSaysItsFormatItsKindAndASemaphoresCounts() {
        assertArrayEquals("latchkey/1 mutex".getBytes(UTF_8), PathData.MUTEX.bytes());
        assertArrayEquals("latchkey/1 read-write".getBytes(UTF_8), PathData.READ_WRITE.bytes());
        assertArrayEquals(
                "latchkey/1 semaphore 3 2 5".getBytes(UTF_8),
                PathData.semaphore(3).resized(5).resized(2).bytes());
    }

    @Test
    void whatWasWrittenIsRead() {
        for (PathData data :
                List.of(PathData.MUTEX, PathData.READ_WRITE, PathData.semaphore(Integer.MAX_VALUE), resized())) {
            assertEquals(Optional.of(data), PathData.parse(data.bytes()));
        }
    }

    @Test
    void whatThisVersionDoesNotKnowIsNotRead() {
        for (String data : List.of(
                "",
                "latchkey/2 mutex",
                "latchkey/1 mutex 1",
                "latchkey/1 semaphore",
                "latchkey/1 semaphore 3 3",
                "latchkey/1 semaphore 3 0 3",
                "latchkey/1 semaphore 3 3 99999999999")) {
            assertEquals(Optional.empty(), PathData.parse(data.getBytes(UTF_8)), data);
        }
    }

    @Test
    void clientsMustAgreeOnKindAndDeclaredPermitsOnly() {
        assertTrue(resized().agreesWith(PathData.semaphore(3)));
        assertFalse(PathData.semaphore(2).agreesWith(PathData.semaphore(3)));
        assertFalse(PathData.MUTEX.agreesWith(PathData.READ_WRITE));
    }

    @Test
    void dataIsDescribedForPeople() {
        assertEquals("semaphore of 3 permits", PathData.describe(resized().bytes()));
        assertEquals("semaphore of 1 permit", PathData.semaphore(1).describe());
        assertEquals(
                "data that this version does not know: \"127.0.0.1?\"",
                PathData.describe("127.0.0.1\n".getBytes(UTF_8)));
        assertTrue(PathData.describe("x".repeat(10_000).getBytes(UTF_8)).length() < 200);
    }

    private static PathData resized() {
        return PathData.semaphore(3).resized(5);
    }

    @Test
    void aRequestSaysWhoMadeIt() {
        Owner owner = new Owner("host-1", 4711, "a label\nwith a line");
        assertEquals(owner, Owner.parse(owner.data()));
        assertEquals(owner.withToken(77), Owner.parse(owner.withToken(77).data()));
        assertEquals(Owner.UNKNOWN, Owner.parse("host\n1 no-token\nlabel".getBytes(UTF_8)));
        assertEquals(Owner.UNKNOWN, Owner.parse(new byte[0]));
        assertEquals(Owner.UNKNOWN, Owner.parse("host\nnot a number\n".getBytes(UTF_8)));
        assertEquals(Owner.UNKNOWN, Owner.parse("host\n99999999999999999999\n".getBytes(UTF_8)));
    }
}

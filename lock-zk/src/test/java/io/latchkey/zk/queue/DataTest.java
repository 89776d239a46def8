package io.latchkey.zk.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What paths and requests say of themselves. The bytes are a format: changing them locks out older clients. */
class DataTest {
    @Test
    void aPathSaysItsKindAndFormat() {
        assertArrayEquals("latchkey/1 mutex".getBytes(UTF_8), Kind.MUTEX.data());
        assertTrue(Kind.MUTEX.isIn(Kind.MUTEX.data()));
        assertFalse(Kind.MUTEX.isIn(Kind.SEMAPHORE.data()));
        assertFalse(Kind.MUTEX.isIn("latchkey/2 mutex".getBytes(UTF_8)));
    }

    @Test
    void foreignDataIsQuotedForPeople() {
        assertEquals("semaphore", Kind.describe(Kind.SEMAPHORE.data()));
        assertEquals(
                "data that this version does not know: \"127.0.0.1?\"", Kind.describe("127.0.0.1\n".getBytes(UTF_8)));
        assertTrue(Kind.describe("x".repeat(10_000).getBytes(UTF_8)).length() < 200);
    }

    @Test
    void aRequestSaysWhoMadeIt() {
        Owner owner = new Owner("host-1", 4711, "a label\nwith a line");
        assertEquals(owner, Owner.parse(owner.data()));
        assertEquals(Owner.UNKNOWN, Owner.parse(new byte[0]));
        assertEquals(Owner.UNKNOWN, Owner.parse("host\nnot a number\n".getBytes(UTF_8)));
        assertEquals(Owner.UNKNOWN, Owner.parse("host\n99999999999999999999\n".getBytes(UTF_8)));
    }
}

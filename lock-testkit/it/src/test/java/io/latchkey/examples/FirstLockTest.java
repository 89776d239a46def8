// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.LatchkeyTest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** The program of docs/start.md, with Enter pressed at once. */
@Tag("slow")
@LatchkeyTest
@Isolated
@Timeout(60)
class FirstLockTest {
    @Test
    void holdsUntilEnterIsPressed(@ConnectString String servers) throws InterruptedException, IOException {
        InputStream in = System.in;
        PrintStream out = System.out;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        try {
            System.setIn(new ByteArrayInputStream("\n".getBytes(StandardCharsets.UTF_8)));
            System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
            FirstLock.main(new String[] {servers});
        } finally {
            System.setIn(in);
            System.setOut(out);
        }
        List<String> lines = said.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals("waiting for /first", lines.get(0));
        assertTrue(lines.get(1).matches("holding /first, token \\d+; press Enter to release"), lines.get(1));
        assertEquals("or crash it: kill -9 " + ProcessHandle.current().pid(), lines.get(2));
        assertEquals(List.of("releasing"), lines.subList(3, lines.size()));
    }
}

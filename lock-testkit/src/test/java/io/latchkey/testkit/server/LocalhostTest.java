// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LocalhostTest {
    private static final int MANY = 100;

    /** Another copy of the class stands for another process. */
    @Test
    void processesDrawFromDifferentPorts() throws Exception {
        URL classes = Localhost.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader other = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
            Method draw =
                    Class.forName(Localhost.class.getName(), true, other).getDeclaredMethod("freePorts", int.class);
            draw.setAccessible(true);
            Set<Integer> ours = ports(Localhost.freePorts(MANY));
            Set<Integer> theirs = ports((IntStream) draw.invoke(null, MANY));
            assertEquals(MANY, ours.size());
            assertEquals(MANY, theirs.size());
            assertTrue(Collections.max(theirs) - Collections.min(theirs) < 2 * MANY, theirs::toString);
            assertTrue(ours.stream().noneMatch(theirs::contains), () -> ours + " and " + theirs);
        }
    }

    @Test
    void processHasMorePortsThanABlock() {
        assertEquals(3 * MANY, ports(Localhost.freePorts(3 * MANY)).size());
    }

    private static Set<Integer> ports(IntStream drawn) {
        return drawn.boxed().collect(Collectors.toSet());
    }
}

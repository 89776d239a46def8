// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The locks run in an image that was linked without the flight recorder. */
@Tag("slow")
class WithoutFlightRecorderTest {
    @Test
    @Timeout(60)
    void locksWork_withoutFlightRecorder() throws Exception {
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--limit-modules",
                        String.join(",", modulesWithout("jdk.jfr")),
                        "-cp",
                        System.getProperty("java.class.path"),
                        WithoutFlightRecorder.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(java.waitFor(30, TimeUnit.SECONDS));
        assertEquals("jdk.jfr false\nlost SESSION_EXPIRED\n", said.replace("\r", ""));
        assertEquals(0, java.exitValue());
    }

    /** All modules of this Java but one and those that need it. */
    static Set<String> modulesWithout(String missing) {
        Map<String, ModuleDescriptor> left = ModuleFinder.ofSystem().findAll().stream()
                .map(ModuleReference::descriptor)
                .collect(Collectors.toMap(ModuleDescriptor::name, module -> module));
        Set<String> gone = new TreeSet<>(Set.of(missing));
        while (left.keySet().removeAll(gone)) {
            left.values().stream()
                    .filter(module -> module.requires().stream()
                            .map(ModuleDescriptor.Requires::name)
                            .anyMatch(gone::contains))
                    .map(ModuleDescriptor::name)
                    .forEach(gone::add);
        }
        return new TreeSet<>(left.keySet());
    }
}

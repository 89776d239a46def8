// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.latchkey.testkit.LatchkeyTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A project without jqwik can use the kit: no class outside this package so much as names it. */
class JqwikSeamTest {
    @Test
    void onlyThisPackageRefersToJqwik() throws IOException, URISyntaxException {
        List<Path> referring = referring("net/jqwik/");
        assertFalse(referring.isEmpty(), "this package does");
        assertEquals(
                List.of(),
                referring.stream().filter(file -> !isOfThisPackage(file)).toList());
    }

    @Test
    void nothingElseRefersToThisPackage() throws IOException, URISyntaxException {
        assertEquals(
                List.of(),
                referring("io/latchkey/testkit/jqwik/").stream()
                        .filter(file -> !isOfThisPackage(file))
                        .toList());
    }

    private static boolean isOfThisPackage(Path file) {
        return file.getParent().endsWith("jqwik");
    }

    /** The kit's classes in whose constants the name stands: class names are plain text there. */
    private static List<Path> referring(String name) throws IOException, URISyntaxException {
        Path classes = Path.of(LatchkeyTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> text(file).contains(name))
                    .toList();
        }
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The README's first example works. That it is what the README shows, ExamplesTest asks of all pages. */
class ReadmeTest {
    @Test
    void exampleWorks() throws InterruptedException {
        List<String> written = new ArrayList<>();
        ReadmeExample.Store store = new ReadmeExample.Store() {
            @Override
            public String read(int order, long token) {
                assertTrue(token > 0);
                return "order " + order;
            }

            @Override
            public void write(int order, String text, long token) {
                assertTrue(token > 0);
                written.add(text);
            }
        };
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            new ReadmeExample(store).ship(server.connectString());
        }
        assertEquals(List.of("order 42, shipped"), written);
    }
}

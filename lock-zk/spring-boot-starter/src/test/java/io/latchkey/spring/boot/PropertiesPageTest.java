// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** properties.md has each property of the configuration metadata, as it is described there. */
class PropertiesPageTest {
    private static Map<String, String> rowsOfTheMetadata() throws IOException {
        Map<String, String> rows = new TreeMap<>();
        try (InputStream in =
                LatchkeyClientProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            Map<String, Object> metadata = JsonParserFactory.getJsonParser()
                    .parseMap(new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8));
            for (Object each : (List<?>) metadata.get("properties")) {
                Map<?, ?> property = (Map<?, ?>) each;
                String name = (String) property.get("name");
                if (property.containsKey("deprecation") || name.contains("cache")) {
                    continue; // of every endpoint
                }
                assertThat(property.get("description"))
                        .as("description of " + name)
                        .isNotNull();
                Object value = property.get("defaultValue");
                rows.put(
                        name,
                        "| `" + name + "` | " + (isNothing(value) ? "" : "`" + value + "`") + " | "
                                + property.get("description") + " |");
            }
        }
        return rows;
    }

    private static boolean isNothing(Object value) {
        return value == null || value.equals("") || (value instanceof List<?> list && list.isEmpty());
    }

    @Test
    void pageHasEachProperty() throws IOException {
        Path page = Path.of("properties.md");
        Assumptions.assumeTrue(Files.exists(page), "not in a checkout");
        Map<String, String> shown = new LinkedHashMap<>();
        for (String line : Files.readAllLines(page)) {
            if (line.startsWith("| `")) {
                shown.put(line.substring(3, line.indexOf('`', 3)), line);
            }
        }
        List<String> expected = new ArrayList<>(rowsOfTheMetadata().values());
        assertThat(expected.size()).isGreaterThan(30);
        assertThat(new TreeMap<>(shown).values())
                .as("the page should have these rows:\n" + String.join("\n", expected))
                .containsExactlyElementsOf(expected);
    }
}

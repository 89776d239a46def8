// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The guarantees that the javadoc of a contract lists are those that it tests, and each id stands for one. */
class GuaranteesTest {
    private static final Pattern LISTED = Pattern.compile("<li>(LK-[A-Z]+-\\d+): (.*)");

    private static Map<String, String> tested(Class<?> contract) {
        Map<String, String> found = new TreeMap<>();
        for (Method method : contract.getDeclaredMethods()) {
            Guarantee guarantee = method.getAnnotation(Guarantee.class);
            if (guarantee != null) {
                assertEquals(null, found.put(guarantee.id(), guarantee.says()), guarantee.id() + " twice");
            }
        }
        return found;
    }

    private static Map<String, String> listed(Class<?> contract) throws IOException {
        Path source = Path.of("src/main/java", contract.getName().replace('.', '/') + ".java");
        Map<String, String> found = new TreeMap<>();
        for (String line : Files.readAllLines(source)) {
            Matcher listed = LISTED.matcher(line);
            if (listed.find()) {
                found.put(listed.group(1), listed.group(2));
            }
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                AcquirableContract.class,
                FaultyAcquiringContract.class,
                MutexContract.class,
                ReadWriteLockContract.class,
                SemaphoreContract.class,
                MultiLockContract.class,
                LeaseContract.class,
                LeadershipContract.class
            })
    void list_isThatOfTheTests(Class<?> contract) throws IOException {
        assertEquals(listed(contract), tested(contract));
        assertTrue(tested(contract).size() >= 10);
        Set<String> kinds = new TreeSet<>();
        tested(contract).keySet().forEach(id -> kinds.add(id.replaceAll("\\d", "")));
        assertEquals(1, kinds.size(), kinds::toString);
    }

    @Test
    void faultThatDidNotStrike_isReportedWithTheCounts() {
        Reached reached = new Reached();
        reached.count(Situation.SUSPECT);
        reached.count(Situation.SUSPECT);
        reached.assertAll(Set.of(Situation.SUSPECT));
        AssertionError told = assertThrows(
                AssertionError.class, () -> reached.assertAll(Set.of(Situation.SUSPECT, Situation.CREATE_LOST)));
        assertTrue(told.getMessage().contains("CREATE_LOST"), told.getMessage());
        assertTrue(told.getMessage().contains("SUSPECT=2"), told.getMessage());
    }
}

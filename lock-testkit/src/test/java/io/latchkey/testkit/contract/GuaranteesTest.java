// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.contract.LockFixture.Situation;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each id of a contract stands for one guarantee. */
class GuaranteesTest {
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
    void idsOfAContract_areOfOneKind(Class<?> contract) {
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

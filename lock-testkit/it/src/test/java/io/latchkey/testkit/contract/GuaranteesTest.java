// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each id of a contract stands for one guarantee. */
class GuaranteesTest {
    /** The ids of a contract's own guarantees, and of those that it extends. */
    private static Set<String> tested(Class<?> contract, boolean inherited) {
        Set<String> found = new TreeSet<>();
        for (Class<?> each = contract; each != null; each = inherited ? each.getSuperclass() : null) {
            for (Method method : each.getDeclaredMethods()) {
                Guarantee guarantee = method.getAnnotation(Guarantee.class);
                if (guarantee != null) {
                    assertTrue(found.add(guarantee.id()), guarantee.id() + " twice");
                }
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
                BodyContract.class,
                LimitContract.class,
                GraceContract.class,
                LeadershipContract.class,
                TermContract.class
            })
    void idsOfAContract_areOfOneKind(Class<?> contract) {
        Set<String> own = tested(contract, false);
        assertTrue(own.size() >= 5);
        assertTrue(tested(contract, true).containsAll(own));
        Set<String> kinds = new TreeSet<>();
        own.forEach(id -> kinds.add(id.replaceAll("\\d", "")));
        assertEquals(1, kinds.size(), kinds::toString);
    }

    /** Also where junit.jupiter.testinstance.lifecycle.default says otherwise: each has its test's path and clients. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                MutexContract.class,
                ReadWriteLockContract.class,
                SemaphoreContract.class,
                MultiLockContract.class,
                LeaseContract.class,
                LeadershipContract.class,
                TermContract.class
            })
    void everyTestHasItsOwnInstance(Class<?> contract) {
        TestInstance declared = contract.getAnnotation(TestInstance.class);
        assertNotNull(declared);
        assertEquals(TestInstance.Lifecycle.PER_METHOD, declared.value());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.junit.jupiter.api.Test;

/** The dependencies between the packages of the kit. Those of lock-zk have a test of their own in its module. */
class KitArchitectureTest {
    private static final String ROOT = "io.latchkey.testkit";

    private static final JavaClasses SHIPPED = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** No classes pass every rule below, so make sure that they are there. */
    @Test
    void theShippedClassesWereFound() {
        assertTrue(SHIPPED.contain("io.latchkey.testkit.server.EmbeddedZooKeeper"), () -> "found only " + SHIPPED);
        assertFalse(SHIPPED.contain(KitArchitectureTest.class), "tests among them");
    }

    @Test
    void packagesHaveNoCycles() {
        slices().assignedFrom(byPackage()).should().beFreeOfCycles().check(SHIPPED);
    }

    /** It is optional: only users of this package have it. */
    @Test
    void jqwikIsKnownToItsOwnPackageOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".jqwik")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("net.jqwik..", ROOT + ".jqwik")
                .check(SHIPPED);
    }

    /** The root is a slice like the others. */
    private static SliceAssignment byPackage() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                return name.startsWith(ROOT) ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages of the kit";
            }
        };
    }
}

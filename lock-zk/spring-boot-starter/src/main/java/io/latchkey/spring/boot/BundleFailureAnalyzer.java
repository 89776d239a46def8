// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import java.io.IOException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Shows what to do where the SSL bundle of the lock client has a file that Spring Boot cannot read. Boot reads bundles
 * of PEM files before the lock client asks for one.
 */
final class BundleFailureAnalyzer extends AbstractFailureAnalyzer<IllegalStateException> {
    private final @Nullable String bundle;

    BundleFailureAnalyzer(Environment environment) {
        bundle = environment.getProperty("latchkey.ssl.bundle");
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, IllegalStateException failed) {
        boolean isOfTheClient =
                bundle != null && String.valueOf(failed.getMessage()).contains("SSL bundle '" + bundle + "'");
        boolean isOfAFile = Stream.<Throwable>iterate(failed, Objects::nonNull, Throwable::getCause)
                .anyMatch(IOException.class::isInstance);
        if (!isOfTheClient || !isOfAFile) {
            return null;
        }
        ClientStartException shown = BundleStores.unreadable("the SSL bundle '" + bundle + '\'', failed);
        return new FailureAnalysis(shown.description(), shown.action(), root);
    }
}

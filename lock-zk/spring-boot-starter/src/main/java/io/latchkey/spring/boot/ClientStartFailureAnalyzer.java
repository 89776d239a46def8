// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Shows a {@link ClientStartException} in the form of Spring Boot. Before Boot's own analyzers: that of properties would
 * show the exception around it.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ClientStartFailureAnalyzer extends AbstractFailureAnalyzer<ClientStartException> {
    ClientStartFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable root, ClientStartException failed) {
        return new FailureAnalysis(failed.description(), failed.action(), failed);
    }
}

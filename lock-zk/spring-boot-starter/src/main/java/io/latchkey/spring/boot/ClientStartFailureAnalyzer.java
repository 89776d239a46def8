// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a {@link ClientStartException} in the form of Spring Boot. */
final class ClientStartFailureAnalyzer extends AbstractFailureAnalyzer<ClientStartException> {
    ClientStartFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable root, ClientStartException failed) {
        return new FailureAnalysis(failed.description(), failed.action(), failed);
    }
}

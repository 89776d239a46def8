// SPDX-License-Identifier: Apache-2.0
package io.latchkey.mutation;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.zip.CRC32;
import org.pitest.bytecode.analysis.ClassTree;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.MutationInterceptor;
import org.pitest.mutationtest.build.MutationInterceptorFactory;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.plugin.Feature;
import org.pitest.plugin.FeatureParameter;

/**
 * Keeps a random sample of the mutants: those whose identifier, hashed together with a seed, falls into the first
 * {@code permille} of a thousand parts. The same seed keeps the same mutants of code that has not changed.
 */
public final class MutantSample implements MutationInterceptorFactory {
    private static final int PARTS = 1000;
    private static final FeatureParameter SEED = FeatureParameter.named("seed").withDescription("Which sample");
    private static final FeatureParameter PERMILLE =
            FeatureParameter.named("permille").withDescription("How many of a thousand mutants are kept");

    @Override
    public String description() {
        return "Random sample of the mutants";
    }

    @Override
    public Feature provides() {
        return Feature.named("SAMPLE")
                .withOnByDefault(false)
                .withDescription(description())
                .withParameter(SEED)
                .withParameter(PERMILLE);
    }

    @Override
    public MutationInterceptor createInterceptor(InterceptorParameters parameters) {
        String seed = parameters.getString(SEED).orElse("1");
        int permille = parameters.getInteger(PERMILLE).orElse(PARTS);
        return new MutationInterceptor() {
            @Override
            public InterceptorType type() {
                return InterceptorType.FILTER;
            }

            @Override
            public Collection<MutationDetails> intercept(Collection<MutationDetails> mutations, Mutater mutater) {
                return mutations.stream()
                        .filter(mutation -> part(seed + mutation.getId()) < permille)
                        .toList();
            }

            @Override
            public void begin(ClassTree mutated) {}

            @Override
            public void end() {}
        };
    }

    private static long part(String id) {
        CRC32 hash = new CRC32();
        hash.update(id.getBytes(StandardCharsets.UTF_8));
        return hash.getValue() % PARTS;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was found out, in one run or in several.
 *
 * @param runs in the order of time
 */
record Results(List<Run> runs, List<Figures> cases) {
    /**
     * When, where and on what.
     *
     * @param wanted the regular expression that chose the cases
     * @param seconds it took; runs of former times do not say
     * @param others what else was looked for, and which version was found
     */
    record Run(
            String mode,
            String wanted,
            String date,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long seconds,
            String commit,
            String machine,
            String java,
            List<String> others) {
        Run {
            others = others == null ? List.of() : others; // runs of former times do not say
        }

        Run lasting(long time) {
            return new Run(mode, wanted, date, time, commit, machine, java, others);
        }
    }

    private static ObjectMapper mapper() {
        return new ObjectMapper()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .enable(SerializationFeature.INDENT_OUTPUT);
    }

    void write(Path file) throws IOException {
        mapper().writeValue(file.toFile(), this);
    }

    static Results read(Path file) throws IOException {
        return mapper().readValue(file.toFile(), Results.class);
    }

    /** These, and in place of cases that a later run has measured again, what that found: all systems of a case are of one run. */
    Results with(Results later) {
        Stream<Figures> kept =
                cases.stream().filter(each -> later.cases().stream().noneMatch(each::isOfCase));
        return new Results(
                Stream.concat(runs.stream(), later.runs().stream()).toList(),
                Stream.concat(kept, later.cases().stream()).toList());
    }

    Optional<Figures> find(String name, Contestant system, double rttMs, Storage storage) {
        return cases.stream()
                .filter(each -> each.name().equals(name)
                        && each.system() == system
                        && each.rttMs() == rttMs
                        && each.storage() == storage)
                .findFirst();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The results of one or several runs.
 *
 * @param runs in the order of time
 */
record Results(List<Run> runs, List<CaseFigures> cases) {
    /**
     * The time, machine and versions of a run.
     *
     * @param wanted the regular expression that selected the cases
     * @param seconds the duration; null in older records
     * @param others the other products, with the version that was found
     */
    record Run(
            String mode,
            String wanted,
            String date,
            @Nullable Long seconds,
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

    private static Gson gson() {
        return new GsonBuilder()
                .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
                .registerTypeAdapter(Contestant.class, labels(Contestant.values(), Contestant::label))
                .registerTypeAdapter(Storage.class, labels(Storage.values(), Storage::label))
                .setPrettyPrinting()
                .disableHtmlEscaping()
                .create();
    }

    private static <T> TypeAdapter<T> labels(T[] values, Function<T, String> label) {
        return new TypeAdapter<>() {
            @Override
            public void write(JsonWriter out, T value) throws IOException {
                out.value(label.apply(value));
            }

            @Override
            public T read(JsonReader in) throws IOException {
                String found = in.nextString();
                return Stream.of(values)
                        .filter(each -> label.apply(each).equals(found))
                        .findFirst()
                        .orElseThrow(() -> new IOException("unknown: " + found));
            }
        };
    }

    void write(Path file) throws IOException {
        Files.writeString(file, gson().toJson(this));
    }

    static Results read(Path file) throws IOException {
        return gson().fromJson(Files.readString(file), Results.class);
    }

    /**
     * Returns these results with those of a later run in place of the cases that it measured: all systems of a case
     * come from one run.
     */
    Results with(Results later) {
        Stream<CaseFigures> kept =
                cases.stream().filter(each -> later.cases().stream().noneMatch(each::isOfCase));
        return new Results(
                Stream.concat(runs.stream(), later.runs().stream()).toList(),
                Stream.concat(kept, later.cases().stream()).toList());
    }

    Optional<CaseFigures> find(String name, Contestant system, double rttMs, Storage storage) {
        return cases.stream()
                .filter(each -> each.name().equals(name)
                        && each.system() == system
                        && each.rttMs() == rttMs
                        && each.storage() == storage)
                .findFirst();
    }
}

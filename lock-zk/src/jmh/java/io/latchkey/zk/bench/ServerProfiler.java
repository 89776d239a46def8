// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** A JMH profiler that adds the requests and processor time of the servers to the results of an iteration. */
@SuppressWarnings("rawtypes") // JMH's own interface names its results so.
public final class ServerProfiler implements InternalProfiler {
    static final String REQUESTS = "server requests";
    static final String CPU = "server cpu";
    static final String CLIENT_CPU = "client cpu";
    static final String TIME = "elapsed";
    static final String OPERATIONS = "operations";

    private final ServerProbe probe;
    private ServerProbe.Reading before = ServerProbe.Reading.NONE;

    /**
     * Called by JMH.
     *
     * @param servers the form of {@link ServerProbe#toString()}
     */
    public ServerProfiler(String servers) {
        this.probe = ServerProbe.parse(servers);
    }

    @Override
    public String getDescription() {
        return "requests and processor time of servers";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = probe.read();
    }

    @Override
    public Collection<? extends Result> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        ServerProbe.Reading spent = probe.since(before);
        return Stream.of(
                        sum(REQUESTS, spent.requests(), "1"),
                        sum(CPU, spent.cpuNanos(), "ns"),
                        sum(CLIENT_CPU, spent.clientCpuNanos(), "ns"),
                        sum(TIME, spent.nanoTime(), "ns"),
                        sum(OPERATIONS, result.getMetadata().getAllOps(), "1"))
                .toList();
    }

    private static Result<?> sum(String label, long value, String unit) {
        return new ScalarResult(label, (double) value, unit, AggregationPolicy.SUM);
    }

    /** Returns the value of such a result in one run. */
    static double value(Collection<? extends Result> ofRun, String label) {
        List<? extends Result> found =
                ofRun.stream().filter(each -> each.getLabel().endsWith(label)).toList();
        if (found.size() != 1) {
            throw new IllegalStateException("JMH has " + found.size() + " results for " + label);
        }
        return found.get(0).getScore();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Servers, with a proxy in front of each for every distance. */
final class ServersAtADistance implements AutoCloseable {
    /** The default of {@code zookeeper.commitLogCount}, and its least value. */
    private static final int TRANSACTIONS_KEPT = 500;

    private static final String CPU = "server_cpu_us_per_s";

    private final Product product;
    private final Storage storage;
    private final BenchServers servers;
    private final List<DelayProxy> proxies = new ArrayList<>();
    private ServerProbe probe;

    ServersAtADistance(Product product, Storage storage, Path disk) throws IOException, InterruptedException {
        this.product = product;
        this.storage = storage;
        this.servers = BenchServers.start(product, storage, disk);
        this.probe = servers.probe(0);
    }

    Storage storage() {
        return storage;
    }

    ServerProbe probe() {
        return probe;
    }

    /**
     * Measures the load of the servers beside one idle client, which later {@linkplain #probe probes} subtract.
     */
    CaseFigures idle(Duration time) throws Exception {
        probe = servers.probe(0);
        Contestant contestant = Stream.of(Contestant.values())
                .filter(each -> each.product() == product)
                .findFirst()
                .orElseThrow();
        MeasuredClient client = contestant.connect(connectString(Duration.ZERO));
        try {
            ServerProbe.Reading before = probe.read();
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
            ServerProbe.Reading spent = probe.since(before);
            probe = servers.probe((double) spent.cpuNanos() / spent.nanoTime());
        } finally {
            client.close();
        }
        String name = "one idle client, " + product.name().toLowerCase(Locale.ROOT);
        return CaseFigures.of(name, 1, contestant, 0, storage, Map.of(CPU, CaseFigures.rounded(probe.idleCpu() * 1e6)));
    }

    /** Returns the connect string for that distance; without a distance there is no proxy. */
    String connectString(Duration roundTrip) throws IOException {
        return roundTrip.isZero() ? servers.connectString() : throughProxy(roundTrip);
    }

    /** As {@link #connectString}, but always with a proxy, which {@linkplain #traffic counts}. */
    String throughProxy(Duration roundTrip) throws IOException {
        cut();
        for (int port : servers.ports()) {
            proxies.add(new DelayProxy(port, roundTrip));
        }
        return proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).collect(Collectors.joining(","));
    }

    /** Ends all connections through the current proxies for good, as the death of the clients' process does. */
    void cut() {
        proxies.forEach(DelayProxy::close);
        proxies.clear();
    }

    /** Kills the servers and starts them again. */
    void restart() throws IOException, InterruptedException {
        servers.restart();
        probe = servers.probe(probe.idleCpu());
    }

    /**
     * Returns the size of live objects on the servers' heaps. A server of ZooKeeper keeps its last transactions, with
     * the requests and connections that they are from. These are the same writes at each call, not what was measured
     * before.
     */
    long heapBytes() throws Exception {
        try (RawClient writer = new RawClient(servers.connectString(), MeasuredClient.SESSION)) {
            writer.write(TRANSACTIONS_KEPT);
        }
        return servers.heapBytes();
    }

    /** Returns the traffic through the current proxies. */
    Traffic traffic() {
        return new Traffic(
                proxies.stream().mapToLong(DelayProxy::requests).sum(),
                proxies.stream().mapToLong(DelayProxy::bytes).sum());
    }

    /** The traffic through the proxies. */
    record Traffic(long requests, long bytes) {
        Traffic since(Traffic then) {
            return new Traffic(requests - then.requests, bytes - then.bytes);
        }
    }

    @Override
    public void close() {
        proxies.forEach(DelayProxy::close);
        servers.close();
    }
}

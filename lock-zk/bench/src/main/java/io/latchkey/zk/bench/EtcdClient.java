// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/** A client of etcd, with a lease for each thread, because a lock request with the holder's lease succeeds at once. */
final class EtcdClient implements MeasuredClient {
    private final io.etcd.jetcd.Client etcd;
    private final Duration session;
    private final Map<Long, CloseableClient> keptAlive = new ConcurrentHashMap<>();

    EtcdClient(String server, Duration session) {
        this.etcd = io.etcd.jetcd.Client.builder().endpoints("http://" + server).build();
        this.session = session;
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) {
        if (recipe != MeasuredLock.MUTEX) {
            throw new UnsupportedOperationException("only mutexes are compared");
        }
        Lock lock = etcd.getLockClient();
        ByteSequence name = ByteSequence.from(path, StandardCharsets.UTF_8);
        ThreadLocal<Long> lease = new ThreadLocal<>();
        return () -> {
            if (lease.get() == null) {
                lease.set(newLease());
            }
            ByteSequence key = lock.lock(name, lease.get()).get().getKey();
            return () -> lock.unlock(key).get();
        };
    }

    private long newLease() throws InterruptedException, ExecutionException {
        Lease leases = etcd.getLeaseClient();
        long id = leases.grant(session.toSeconds()).get().getID();
        keptAlive.put(id, leases.keepAlive(id, new IgnoredResponses()));
        return id;
    }

    /** Leases are not renewed, because no measurement is as long. */
    private static final class IgnoredResponses implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse kept) {}

        @Override
        public void onError(Throwable failed) {}

        @Override
        public void onCompleted() {}
    }

    @Override
    public void close() {
        keptAlive.values().forEach(CloseableClient::close);
        CompletableFuture.allOf(keptAlive.keySet().stream()
                        .map(etcd.getLeaseClient()::revoke)
                        .toArray(CompletableFuture[]::new))
                .join();
        etcd.close();
    }
}

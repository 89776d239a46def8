// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** An observer that records its calls, a line for each, and their threads. */
class RecordingObserver implements LockObserver {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Set<String> threads = ConcurrentHashMap.newKeySet();

    private void hear(String line) {
        threads.add(Thread.currentThread().getName());
        lines.add(line);
    }

    private void hear(String what, Request request, Duration span) {
        if (span.isNegative() || span.compareTo(Duration.ofMinutes(1)) > 0) {
            hear("no time of this test: " + span);
        }
        hear(what + " " + request.lock() + " " + request.path());
    }

    @Override
    public void requested(Request request) {
        hear("requested", request, Duration.ZERO);
    }

    @Override
    public void queued(Request request, int position) {
        hear("queued at " + position, request, Duration.ZERO);
    }

    @Override
    public void granted(Request request, long token, Duration waited) {
        hear("granted", request, waited);
    }

    @Override
    public void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        hear(failure + reason.map(why -> " " + why).orElse(""), request, waited);
    }

    @Override
    public void suspect(Request request, long token) {
        hear("suspect", request, Duration.ZERO);
    }

    @Override
    public void lost(Request request, long token, LossCause cause, Duration held) {
        hear("lost, " + cause + ",", request, held);
    }

    @Override
    public void released(Request request, long token, Duration held) {
        hear("released", request, held);
    }

    @Override
    public void sessionChanged(SessionState state) {
        hear(state.name());
    }

    @Override
    public void missed(long calls) {
        hear("missed " + calls);
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** Returns the calls for this path. */
    List<String> of(String path) {
        return lines.stream().filter(line -> line.endsWith(" " + path)).toList();
    }

    Set<String> threads() {
        return Set.copyOf(threads);
    }
}

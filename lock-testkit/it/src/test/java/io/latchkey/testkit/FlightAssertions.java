// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Shows that requests go out without waiting for each other: no answer comes before the last of them is sent. */
public final class FlightAssertions {
    private static final Duration SOON = Duration.ofSeconds(10);

    private FlightAssertions() {}

    /**
     * What comes of a call whose first requests, so many, are one flight. Fails when one of them waits for an answer.
     */
    public static <T> T of(int requests, FaultProxy proxy, Supplier<CompletableFuture<T>> call) throws Exception {
        RequestMatch counted = RequestMatch.any().butHeartbeats();
        Fault lastSent = proxy.sent(counted, requests);
        HeldFrames answers = proxy.holdAnswers(counted);
        CompletableFuture<T> outcome = call.get();
        lastSent.await(SOON);
        answers.release();
        return outcome.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }
}

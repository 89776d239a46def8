// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Several observers of one client. One that throws does not keep the others from an event. */
final class Observers implements LockObserver {
    private final List<LockObserver> all;

    Observers(List<LockObserver> all) {
        this.all = List.copyOf(all);
    }

    private void each(Consumer<LockObserver> event) {
        Throwable first = null;
        for (LockObserver observer : all) {
            try {
                event.accept(observer);
            } catch (Throwable failed) { // an error as well, and what a language without checked exceptions throws
                if (first == null) {
                    first = failed;
                } else if (failed != first) {
                    first.addSuppressed(failed);
                }
            }
        }
        // The client logs it.
        if (first instanceof Error error) {
            throw error;
        } else if (first instanceof RuntimeException exception) {
            throw exception;
        } else if (first != null) {
            throw new UndeclaredThrowableException(first);
        }
    }

    @Override
    public void requested(Request request) {
        each(observer -> observer.requested(request));
    }

    @Override
    public void queued(Request request, int position) {
        each(observer -> observer.queued(request, position));
    }

    @Override
    public void granted(Request request, long token, Duration waited) {
        each(observer -> observer.granted(request, token, waited));
    }

    @Override
    public void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        each(observer -> observer.notGranted(request, failure, reason, waited));
    }

    @Override
    public void suspect(Request request, long token) {
        each(observer -> observer.suspect(request, token));
    }

    @Override
    public void lost(Request request, long token, LossCause cause, Duration held) {
        each(observer -> observer.lost(request, token, cause, held));
    }

    @Override
    public void released(Request request, long token, Duration held) {
        each(observer -> observer.released(request, token, held));
    }

    @Override
    public void sessionChanged(SessionState state) {
        each(observer -> observer.sessionChanged(state));
    }

    @Override
    public void missed(long calls) {
        each(observer -> observer.missed(calls));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.Optional;

/** A re-entrant mutex. Holders are threads; each hold is released separately. */
final class ReentrantMutexModel implements SequentialModel<ReentrantMutexModel.Holds> {
    /**
     * The holder, and the number of its holds.
     *
     * @param holder empty text while it is free
     * @param count 0 while it is free
     */
    public record Holds(String holder, int count) {}

    private static final Holds FREE = new Holds("", 0);

    @Override
    public Holds initial() {
        return FREE;
    }

    @Override
    public Optional<Holds> after(Holds now, Action action) {
        if (action instanceof Action.Acquire acquire) {
            boolean may = now.count() == 0 || now.holder().equals(acquire.holder());
            return may ? Optional.of(new Holds(acquire.holder(), now.count() + 1)) : Optional.empty();
        } else if (action instanceof Action.Release release) {
            boolean has = now.count() > 0 && now.holder().equals(release.holder());
            if (!has) {
                return Optional.empty();
            }
            return Optional.of(now.count() == 1 ? FREE : new Holds(now.holder(), now.count() - 1));
        } else if (action instanceof Action.Refuse) {
            return now.count() > 0 ? Optional.of(now) : Optional.empty();
        }
        return Optional.empty();
    }
}

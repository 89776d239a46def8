// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.Optional;

/** A mutex that is not re-entrant. Its state is the name of the hold, empty while it is free. */
final class MutexModel implements SequentialModel<Optional<String>> {
    /** A free mutex. */
    public MutexModel() {}

    @Override
    public Optional<String> initial() {
        return Optional.empty();
    }

    @Override
    public Optional<Optional<String>> after(Optional<String> holder, Action action) {
        if (action instanceof Action.Acquire acquire) {
            return holder.isEmpty() ? Optional.of(Optional.of(acquire.holder())) : Optional.empty();
        } else if (action instanceof Action.Release release) {
            return holder.equals(Optional.of(release.holder())) ? Optional.of(Optional.empty()) : Optional.empty();
        } else if (action instanceof Action.Refuse) {
            return holder.isPresent() ? Optional.of(holder) : Optional.empty();
        }
        return Optional.empty();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.LockClaim;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A read-write lock: one writer or any number of readers, and a writer may become a reader. It does not model the order
 * of requests.
 */
final class ReadWriteModel implements SequentialModel<ReadWriteModel.Holds> {
    /**
     * The holders.
     *
     * @param writer the hold of a writer, if there is one
     * @param readers the holds of readers
     */
    public record Holds(Optional<String> writer, Set<String> readers) {}

    @Override
    public Holds initial() {
        return new Holds(Optional.empty(), Set.of());
    }

    @Override
    public Optional<Holds> after(Holds now, Action action) {
        if (action instanceof Action.Acquire acquire) {
            if (!fits(now, acquire.claims())) {
                return Optional.empty();
            }
            return Optional.of(
                    isReader(acquire.claims())
                            ? new Holds(now.writer(), with(now.readers(), acquire.holder()))
                            : new Holds(Optional.of(acquire.holder()), now.readers()));
        } else if (action instanceof Action.Release release) {
            return released(now, release.holder());
        } else if (action instanceof Action.Refuse refuse) {
            return fits(now, refuse.claims()) ? Optional.empty() : Optional.of(now);
        } else if (action instanceof Action.Downgrade downgrade) {
            return now.writer().equals(Optional.of(downgrade.from()))
                    ? Optional.of(new Holds(Optional.empty(), with(now.readers(), downgrade.to())))
                    : Optional.empty();
        }
        return Optional.empty();
    }

    private static boolean isReader(List<LockClaim> claims) {
        return claims.get(0) instanceof LockClaim.Shared;
    }

    private static boolean fits(Holds now, List<LockClaim> claims) {
        return now.writer().isEmpty() && (isReader(claims) || now.readers().isEmpty());
    }

    private static Optional<Holds> released(Holds now, String holder) {
        if (now.writer().equals(Optional.of(holder))) {
            return Optional.of(new Holds(Optional.empty(), now.readers()));
        } else if (now.readers().contains(holder)) {
            Set<String> left = new HashSet<>(now.readers());
            left.remove(holder);
            return Optional.of(new Holds(now.writer(), left));
        }
        return Optional.empty();
    }

    private static Set<String> with(Set<String> readers, String reader) {
        Set<String> more = new HashSet<>(readers);
        more.add(reader);
        return more;
    }
}

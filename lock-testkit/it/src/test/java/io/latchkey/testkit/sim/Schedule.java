// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The spec of a world with its steps, after which all faults heal and all workers complete. */
record Schedule(WorldSpec spec, List<Integer> steps) {
    /**
     * Plays it. Steps that are not possible when it is their turn are left out.
     *
     * @param coverage counts the situations that it reaches
     * @return the rule that it breaks, if it does
     */
    Optional<BrokenRuleError> play(Coverage coverage) {
        return play(coverage, null);
    }

    /** As it went, line by line, with the broken rule at the end if there is one. */
    List<String> tell() {
        List<String> diary = new ArrayList<>();
        play(new Coverage(), diary).ifPresent(broken -> diary.add("BROKEN " + broken.getMessage()));
        return diary;
    }

    private Optional<BrokenRuleError> play(Coverage coverage, @Nullable List<String> diary) {
        return BrokenRuleError.by(() -> {
            World world = new World(spec, coverage, diary);
            for (int step : steps) {
                boolean ignored = world.take(step);
            }
            world.finish();
        });
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.LockProperties;
import io.latchkey.testkit.workload.Play;
import java.time.Duration;

/** Curator's locks under the unmodified properties. */
@LatchkeyProperties
class CuratorPropertyCase implements LockProperties {
    private static final Duration WITHIN = Duration.ofSeconds(5);

    @Override
    public Play.Settings settings(Play.Settings given) {
        return new Play.Settings(given.session(), given.reconnects(), WITHIN, CuratorFixture::connect);
    }

    /** Curator has no fencing tokens. */
    @Override
    public void check(Play play) {
        play.assertExclusion();
    }
}

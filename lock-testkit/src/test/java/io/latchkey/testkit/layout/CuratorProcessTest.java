// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import io.latchkey.zk.Layout;
import java.time.Duration;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Beside Curator 5.9.0 in JVMs of its own. */
@DisabledOnOs(OS.WINDOWS)
class CuratorProcessTest extends BesideProcesses {
    @Override
    Layout layout() {
        return Layout.CURATOR;
    }

    @Override
    ForeignClient process(String servers, Duration session) {
        return ForeignClient.curator(servers, session);
    }
}

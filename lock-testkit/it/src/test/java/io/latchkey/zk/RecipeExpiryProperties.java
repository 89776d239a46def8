// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.jqwik.LatchkeyProperties;
import io.latchkey.testkit.jqwik.LockProperties;
import io.latchkey.testkit.workload.Play;
import net.jqwik.api.Tag;

/** Every kind of lock at random while sessions end at random, in every order, in fast mode. */
@Tag("once")
@Tag("long")
@LatchkeyProperties
class RecipeExpiryProperties implements LockProperties {
    @Override
    public Play.Settings settings(Play.Settings given) {
        return given.with(Connector.ofLatchkey());
    }
}

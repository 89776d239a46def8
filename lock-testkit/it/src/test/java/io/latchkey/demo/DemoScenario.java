// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import org.apache.zookeeper.KeeperException;

/**
 * A story in which locks matter, with something at the end that is true or not. To add one: a class, and a line in
 * {@link Demo}.
 */
interface DemoScenario {
    /** What to call it on the command line. */
    String name();

    /** What happens in it, in one line. */
    String summary();

    /**
     * Plays it, showing progress and verdict.
     *
     * @return whether the verdict holds
     */
    boolean play(ScenarioRun stage) throws KeeperException, InterruptedException;
}

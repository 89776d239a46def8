// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;

/**
 * One turn: who, where, for how long.
 *
 * @param servers where to connect
 * @param path not used before
 * @param warmUp not measured
 * @param measured how long to measure
 */
record Trial(
        Contestant contestant, String servers, ServerProbe probe, String path, Duration warmUp, Duration measured) {}

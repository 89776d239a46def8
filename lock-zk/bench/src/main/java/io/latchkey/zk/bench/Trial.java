// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;

/**
 * The settings of one turn.
 *
 * @param servers the connect string
 * @param path an unused path
 * @param warmUp the duration of the warm-up, which is not measured
 * @param measured the duration of the measurement
 * @param onlooked the duration of its second part, with an onlooker; zero for none
 */
record Trial(
        Contestant contestant,
        String servers,
        ServerProbe probe,
        String path,
        Duration warmUp,
        Duration measured,
        Duration onlooked) {}

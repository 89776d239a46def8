// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.List;
import java.util.stream.IntStream;

/** The lock that is acquired. */
enum MeasuredLock {
    MUTEX,
    /** A mutex with an asynchronous release, if the system has one. */
    ASYNC_RELEASE,
    /** A mutex that another client holds, and a caller that does not wait. */
    FAILED_TRY,
    READ,
    WRITE,
    /** One permit of three. */
    SEMAPHORE_1,
    /** Three permits of three. */
    SEMAPHORE_3,
    /** One permit of eight. */
    SEMAPHORE_1_OF_8,
    MULTI_5,
    MULTI_20;

    static final int PERMITS = 3;
    static final int MANY_PERMITS = 8;

    /** Returns the paths of one acquisition. */
    List<String> paths(String path) {
        int count =
                switch (this) {
                    case MULTI_5 -> 5;
                    case MULTI_20 -> 20;
                    default -> 1;
                };
        return IntStream.range(0, count)
                .mapToObj(i -> count == 1 ? path : path + "-" + i)
                .toList();
    }
}

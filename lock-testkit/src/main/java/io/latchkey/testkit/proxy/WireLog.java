// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import java.util.ArrayList;
import java.util.List;

/** The growing record behind {@link Wire}. Written by the proxy's thread, read by tests. */
final class WireLog {
    private final List<WireRecord> records = new ArrayList<>();

    synchronized void add(WireRecord record) {
        records.add(record);
    }

    synchronized Wire.Mark mark() {
        return new Wire.Mark(records.size());
    }

    synchronized Wire since(Wire.Mark mark) {
        return new Wire(records.subList(mark.position(), records.size()));
    }
}

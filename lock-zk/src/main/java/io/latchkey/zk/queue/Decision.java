package io.latchkey.zk.queue;

import java.util.List;

/** What a rule says of one request in one queue. */
public sealed interface Decision {
    /** It holds, and keeps holding: whatever comes later stands behind it. */
    record Hold() implements Decision {}

    /** It cannot hold while all of {@code on} are there; when one of them goes it may. */
    record Wait(List<NodeName> on) implements Decision {
        public Wait {
            on = List.copyOf(on);
        }
    }

    /** It asks for more than there is, and would block those behind it for nothing. */
    record TooMany(int capacity) implements Decision {}
}

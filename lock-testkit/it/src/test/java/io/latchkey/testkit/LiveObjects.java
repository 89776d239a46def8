// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/** What is on the heap of this process after a full collection, by the JVM's own histogram. */
public final class LiveObjects {
    /** Classes of lock-zk and lock-api of which there is an object, or a few, for each session, request or body. */
    public static final Set<String> OF_REQUESTS = Set.of(
            "io.latchkey.zk.internal.session.Session",
            "io.latchkey.zk.internal.request.Request",
            "io.latchkey.zk.internal.request.QueueEntry",
            "io.latchkey.zk.internal.request.ZkLease",
            "io.latchkey.zk.internal.request.LeaseEnd",
            "io.latchkey.zk.internal.request.NodeCreation",
            "io.latchkey.zk.internal.path.ListRequest",
            "io.latchkey.zk.internal.path.Deletion",
            "io.latchkey.zk.internal.session.Watches$WatchedNode",
            "io.latchkey.zk.internal.request.RevocationNode",
            "io.latchkey.zk.internal.request.Downgrade",
            "io.latchkey.zk.internal.client.LocalWaiter",
            "io.latchkey.zk.internal.client.LocalHandOff$LocalQueue",
            "io.latchkey.zk.internal.turns.TurnQueue$SharedNode",
            "io.latchkey.zk.internal.acquire.Acquisition",
            "io.latchkey.lock.Leadership",
            "io.latchkey.lock.Candidacy",
            "io.latchkey.lock.BodyInterruption");

    private static final Pattern ROW = Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S+).*");

    private LiveObjects() {}

    /** Instances of the classes of these names, by name; collects first. */
    public static Map<String, Long> count(Predicate<String> names) {
        Map<String, Long> counts = new TreeMap<>();
        for (String line : histogram().lines().toList()) {
            Matcher row = ROW.matcher(line);
            if (row.matches() && names.test(row.group(3))) {
                counts.put(row.group(3), Long.parseLong(row.group(1)));
            }
        }
        return counts;
    }

    /** Bytes of all objects; collects first. */
    public static long bytes() {
        long bytes = 0;
        for (String line : histogram().lines().toList()) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                bytes += Long.parseLong(row.group(2));
            }
        }
        return bytes;
    }

    private static String histogram() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }
}

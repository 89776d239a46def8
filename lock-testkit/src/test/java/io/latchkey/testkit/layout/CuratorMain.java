// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** What {@code kazoo_client.py} does, with Curator's locks; each is held by a thread of its own. */
final class CuratorMain {
    private static final int FIRST_PAUSE_MILLIS = 100;
    private static final int RETRIES = 8;
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private CuratorMain() {}

    public static void main(String[] args) throws Exception {
        int millis = Integer.parseInt(args[1]);
        CuratorFramework framework = CuratorFrameworkFactory.newClient(
                args[0], millis, millis, new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, RETRIES));
        framework.getConnectionStateListenable().addListener((told, state) -> {
            if (state == ConnectionState.LOST) {
                OUT.println("lost");
            }
        });
        framework.start();
        framework.blockUntilConnected();
        OUT.println("connected");
        Map<String, CountDownLatch> releases = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("acquire")) {
                CountDownLatch release = new CountDownLatch(1);
                releases.put(words[1], release);
                InterProcessLock lock = lock(framework, words[2], words[3]);
                Thread holder = new Thread(() -> hold(lock, words[1], Long.parseLong(words[4]), release));
                holder.setDaemon(true);
                holder.start();
            } else {
                releases.get(words[1]).countDown();
            }
        }
    }

    private static InterProcessLock lock(CuratorFramework framework, String kind, String path) {
        return switch (kind) {
            case "lock" -> new InterProcessMutex(framework, path);
            case "read" -> new InterProcessReadWriteLock(framework, path).readLock();
            default -> new InterProcessReadWriteLock(framework, path).writeLock();
        };
    }

    private static void hold(InterProcessLock lock, String id, long millis, CountDownLatch release) {
        try {
            boolean granted = lock.acquire(millis, millis < 0 ? null : TimeUnit.MILLISECONDS);
            if (!granted) {
                OUT.println("refused " + id);
                return;
            }
            OUT.println("granted " + id);
            release.await();
            lock.release();
            OUT.println("released " + id);
        } catch (Exception failed) {
            OUT.println("failed " + id + " " + failed);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Document.Reading;
import io.latchkey.demo.Document.Version;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException;

/** Reads one part of the document after the other, and keeps what it found. */
record Reader(Document document) implements Role {
    @Override
    public boolean once(Client client, String name) throws KeeperException, InterruptedException {
        return client.turn(locks -> Document.lock(locks).readLock(), hold -> {
            read(document, name, hold);
            return true;
        });
    }

    /**
     * The reading counts only if it can be kept under the lease: then no writer has come between from the first part
     * on.
     */
    static void read(Document document, String name, Hold hold) throws KeeperException, InterruptedException {
        List<Version> versions = new ArrayList<>();
        for (int part = 1; part <= document.parts(); part++) {
            versions.add(document.part(part));
            Pause.think();
        }
        hold.enter(name, document.keeping(new Reading(name, versions)));
    }
}

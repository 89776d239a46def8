// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Document.Version;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.KeeperException;

/**
 * Writes the next version of the document, one part after the other. Now and then stays as a reader, to read back what
 * it wrote, while the other readers come in.
 */
record Editor(Document document) implements Role {
    /** What the reading after an edit is called after the edit's name. */
    static final String READ_BACK = "-read-back";

    private static final int READS_BACK_ONCE_IN = 3;

    @Override
    public boolean once(Client client, String edit) throws KeeperException, InterruptedException {
        return client.turn(locks -> Document.lock(locks).writeLock(), hold -> {
            write(edit, hold);
            if (ThreadLocalRandom.current().nextInt(READS_BACK_ONCE_IN) == 0) {
                hold.downgrade(Document::lock);
                Reader.read(document, edit + READ_BACK, hold);
            }
            return true;
        });
    }

    /**
     * An editor that loses the lock leaves the first parts new and the others old, until the next editor writes them
     * all.
     */
    private void write(String edit, Hold hold) throws KeeperException, InterruptedException {
        int last = document.parts();
        Version next = new Version(document.part(last).number() + 1, edit);
        for (int part = 1; part < last; part++) {
            hold.write(document.rewriting(part, next));
            Pause.think();
        }
        hold.enter(edit, document.ending(next));
    }
}

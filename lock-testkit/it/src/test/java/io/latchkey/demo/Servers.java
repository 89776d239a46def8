// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.ExternalServers;
import io.latchkey.testkit.server.ZooKeeperFixture;

/** ZooKeeper for the demo: three servers in this process, or those that {@code -Dlatchkey.connect} names. */
final class Servers implements AutoCloseable {
    private final ZooKeeperFixture fixture;
    private final String chroot;
    private final String description;

    private Servers(ZooKeeperFixture fixture, String chroot, String description) {
        this.fixture = fixture;
        this.chroot = chroot;
        this.description = description;
    }

    static Servers open() {
        String given = System.getProperty("latchkey.connect", "").strip();
        if (given.isEmpty()) {
            return new Servers(EmbeddedEnsemble.start(), "", "three ZooKeeper servers in this process");
        }
        int slash = given.indexOf('/');
        String hosts = slash < 0 ? given : given.substring(0, slash);
        String chroot = slash < 0 || slash == given.length() - 1 ? "" : given.substring(slash);
        return new Servers(ExternalServers.at(hosts), chroot, "ZooKeeper at " + given);
    }

    /** The servers, without a chroot. */
    ZooKeeperFixture fixture() {
        return fixture;
    }

    /** Below what all of the demo's nodes have to be; empty if they may be anywhere. */
    String chroot() {
        return chroot;
    }

    @Override
    public String toString() {
        return description;
    }

    @Override
    public void close() {
        fixture.close();
    }
}

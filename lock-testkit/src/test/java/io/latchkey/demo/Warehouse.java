// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * The stock of one product, a number in a node, and a node for every order that was sold. A sale writes both in one
 * transaction, so that the number of orders sold can be read from ZooKeeper, independently of the clerks' record.
 */
record Warehouse(Site site) {
    private static final String STOCK = "stock";
    private static final String ORDERS = "orders";

    /** Builds a new one. */
    static Warehouse build(Site site, int stock) throws KeeperException, InterruptedException {
        site.write(List.of(site.creation(STOCK, Integer.toString(stock)), site.folder(ORDERS)));
        return new Warehouse(site);
    }

    /** The stock now. */
    int stock() throws KeeperException, InterruptedException {
        return Integer.parseInt(site.read(STOCK));
    }

    /** What a sale writes. */
    Op[] sale(String order, int stockLeft) {
        return new Op[] {site.change(STOCK, Integer.toString(stockLeft)), site.creation(ORDERS + '/' + order, "")};
    }

    /** The orders that were sold. */
    Set<String> orders() throws KeeperException, InterruptedException {
        return site.names(ORDERS);
    }
}

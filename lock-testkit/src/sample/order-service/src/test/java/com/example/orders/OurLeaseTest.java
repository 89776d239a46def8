package com.example.orders;

import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.contract.LeaseContract;
import io.latchkey.testkit.contract.LockFixture;
import io.latchkey.testkit.contract.ServerFixture;

/** Every guarantee of leases, of locks that are kept in ZooKeeper. */
class OurLeaseTest extends LeaseContract {
    @Override
    protected LockFixture newFixture() {
        return new ServerFixture(Connector.ofLatchkey());
    }
}

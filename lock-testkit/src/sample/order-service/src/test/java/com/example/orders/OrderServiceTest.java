package com.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import io.latchkey.zk.ZkLockClient;
import org.junit.jupiter.api.Test;

@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 5000)
class OrderServiceTest {
    private final OrderStore store = new OrderStore();

    @Test
    void oneWorkerAfterTheOther(@ConnectString String servers) throws Exception {
        try (ZkLockClient locks = ZkLockClient.connect(servers)) {
            OrderService service = new OrderService(locks, store);
            service.process(1, order -> order + "picked ");
            service.process(1, order -> order + "shipped");
            assertEquals("picked shipped", store.read(1));
        }
    }

    @Test
    void serviceCannotOverwriteItsSuccessor_whenItsSessionIsLost(FaultyClient one, FaultyClient two) {
        OrderService slow = new OrderService(one.client(), store);
        OrderService quick = new OrderService(two.client(), store);
        assertThrows(
                StaleTokenException.class,
                () -> slow.process(2, order -> {
                    one.expire(ExpiryOrder.SERVER_FIRST).join();
                    quick.process(2, same -> "by the successor");
                    return "by the zombie";
                }));
        assertEquals("by the successor", store.read(2));
    }

    @Test
    void jqwikIsThereOnlyIfTheProjectBringsIt() {
        boolean wanted = Boolean.getBoolean("with.jqwik");
        boolean there;
        try {
            Class.forName("net.jqwik.api.Property");
            there = true;
        } catch (ClassNotFoundException e) {
            there = false;
        }
        assertEquals(wanted, there);
    }
}

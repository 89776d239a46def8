/** A service that knows Latchkey, and ZooKeeper not at all. */
module com.example.modular {
    requires io.latchkey.lock;
    requires io.latchkey.zk;
}

/** The benchmark of Latchkey beside Curator, Redisson, etcd and bare ZooKeeper; docs/performance.md describes it. */
@org.jspecify.annotations.NullMarked
package io.latchkey.zk.bench;

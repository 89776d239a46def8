/** Latchkey, Curator and bare ZooKeeper measured side by side. What is measured and how: docs/performance.md. */
@org.jspecify.annotations.NullMarked
package io.latchkey.zk.bench;

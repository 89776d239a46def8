/** The access to ZooKeeper: requests and responses, the real client behind them, handles, and error texts. */
@NullMarked
package io.latchkey.zk.internal.store;

import org.jspecify.annotations.NullMarked;

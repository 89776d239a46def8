/** The one door to ZooKeeper: requests and responses, the real client behind them, handles, and the errors that tell of them. */
@NullMarked
package io.latchkey.zk.internal.store;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.proxy.FaultProxy;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * On a {@code String} parameter of a {@link LatchkeyTest}: the servers' connect string, for clients that the test or
 * the code under test makes itself. To do something to such a client, put a {@link FaultProxy#to(String)} between, and
 * give the client {@link FaultProxy#connectString()}; {@link FaultProxy#expireSession()} ends its session.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface ConnectString {}

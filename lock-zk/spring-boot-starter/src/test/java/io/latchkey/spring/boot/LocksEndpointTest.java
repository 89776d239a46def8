// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.spring.ServerOfTheTests;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/** Which locks an answer of the endpoint has, and which requests it acts on. */
@Timeout(60)
class LocksEndpointTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final LatchkeyClientProperties.Endpoint SETTINGS = new LatchkeyClientProperties.Endpoint("/", 3, 20);

    private static final List<ACL> ALL_BUT_READ =
            Collections.singletonList(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE));

    @Test
    void locksWithRequestsComeFirst_whenThereIsNoRoomForAll() throws Exception {
        try (LockClient client = SERVER.client();
                Lease held = client.mutex("/many/z-held").acquire()) {
            for (String idle : new String[] {"a", "b", "c"}) {
                client.mutex("/many/" + idle).acquire().close();
            }
            LocksEndpoint endpoint = new LocksEndpoint(client, SETTINGS);
            LocksEndpoint.Locks one = endpoint.locks("/many", 1);
            assertThat(one.locks()).extracting(LocksEndpoint.Lock::path).containsExactly("/many/z-held");
            assertThat(one.omittedLocks()).isEqualTo(3);
            assertThat(one.idleLocks()).isEqualTo(3);
            assertThat(endpoint.locks("/many", null).locks())
                    .extracting(LocksEndpoint.Lock::path)
                    .containsExactly("/many/z-held", "/many/a", "/many/b");
            assertThat(endpoint.locks("/many", 100).locks())
                    .as("not more than the setting")
                    .hasSize(3);
            assertThat(endpoint.locks("/many", -1).locks()).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
    }

    /** Each request that this client may not read is shown with the token 0. */
    @ParameterizedTest
    @ValueSource(strings = {"evict", "request-release"})
    void actsOnNoRequest_whenTheTokenIsNotOfOne(String action) throws Exception {
        ZooKeeper operator = new ZooKeeper(SERVER.connectString(), 4000, event -> {});
        try (LockClient client = SERVER.client();
                Lease held = client.mutex("/hidden").acquire()) {
            for (String request : operator.getChildren("/hidden", false)) {
                var unused = operator.setACL("/hidden/" + request, ALL_BUT_READ, -1);
            }
            LocksEndpoint endpoint = new LocksEndpoint(client, SETTINGS);
            assertThat(endpoint.locks("/hidden", null).locks().get(0).queue())
                    .extracting(LocksEndpoint.Request::token)
                    .containsExactly(0L);
            for (long token : new long[] {0, -1}) {
                assertThatThrownBy(() -> endpoint.act(action, "/hidden", token))
                        .isInstanceOf(InvalidEndpointRequestException.class)
                        .hasMessageContaining("token is " + token);
            }
            assertThat(client.mutex("/hidden").queue()).hasSize(1);
            assertThat(held.isValid()).isTrue();
        } finally {
            operator.close();
        }
    }

    /** A reader may claim the token of an earlier request, as that of a downgraded lease. */
    @ParameterizedTest
    @ValueSource(strings = {"evict", "request-release"})
    void actsOnNoRequest_whenSeveralHaveTheToken(String action) throws Exception {
        ZooKeeper operator = new ZooKeeper(SERVER.connectString(), 4000, event -> {});
        try (LockClient client = SERVER.client();
                Lease held = client.readWriteLock("/twice").readLock().acquire()) {
            String claiming = operator.create(
                    "/twice/read-0123456789abcdef-",
                    ("x:1/" + held.token()).getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.EPHEMERAL_SEQUENTIAL);
            LocksEndpoint endpoint = new LocksEndpoint(client, SETTINGS);
            assertThatThrownBy(() -> endpoint.act(action, "/twice", held.token()))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("2 requests at /twice have the token " + held.token())
                    .hasMessageContaining("Nothing was changed");
            assertThat(client.readWriteLock("/twice").readLock().queue()).hasSize(2);
            assertThat(held.isValid()).isTrue();
            operator.delete(claiming, -1);
        } finally {
            operator.close();
        }
    }

    @Test
    void requestIsNotSaidToBeGone_whenItsLockCannotBeRead() throws Exception {
        ZooKeeper operator = new ZooKeeper(SERVER.connectString(), 4000, event -> {});
        try (LockClient client = SERVER.client()) {
            String unused = operator.create("/secret", new byte[0], ALL_BUT_READ, CreateMode.PERSISTENT);
            LocksEndpoint endpoint = new LocksEndpoint(client, SETTINGS);
            assertThatThrownBy(() -> endpoint.act("evict", "/secret", 7))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("no request with token 7 was found at /secret")
                    .hasMessageContaining("/secret could not be read")
                    .hasCauseInstanceOf(AccessDeniedException.class);
            assertThat(endpoint.act("evict", "/nothing", 7).result()).isEqualTo("GONE");
        } finally {
            operator.close();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommandTest {
    private static final NodeName NODE =
            NodeName.parse("write-0123456789abcdef-0000000001").orElseThrow();
    private static final List<Placed> NODES = List.of(new Placed(0, NODE));

    private static List<Command> commands() {
        return List.of(
                new Command.Enqueue("id"),
                new Command.Recover(),
                new Command.Discard("id"),
                new Command.Remember("id"),
                new Command.Arrived(NODES),
                new Command.Gone(NODES),
                new Command.LookUp(NODES.get(0)),
                new Command.ListQueue(1),
                new Command.Watch(1, new Decision.Blocked(List.of(NODE)), 2),
                new Command.Announce(1, NODE),
                new Command.StopWatching(),
                new Command.Refuse(1, 2),
                new Command.Drain(1, 2),
                new Command.Confirm(),
                new Command.Grant(1),
                new Command.LeaveAsHolder(NODES, outcome -> {}),
                new Command.Leave(NODES),
                new Command.Lose(LossCause.NODE_DELETED));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void commandCallsTheMethodOfItsName(Command command) {
        List<String> called = new ArrayList<>();
        command.carryOut((Command.Shell) Proxy.newProxyInstance(
                Command.class.getClassLoader(), new Class<?>[] {Command.Shell.class}, (proxy, method, arguments) -> {
                    called.add(method.getName());
                    return null;
                }));
        String name = command.getClass().getSimpleName();
        assertEquals(List.of(name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1)), called);
    }

    @Test
    void everyCommandIsTested() {
        assertEquals(
                Set.of(Command.class.getPermittedSubclasses()),
                commands().stream().map(Command::getClass).collect(Collectors.toSet()));
    }
}

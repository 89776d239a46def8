// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.WireRecord.Connect;
import io.latchkey.testkit.proxy.WireRecord.Event;
import io.latchkey.testkit.proxy.WireRecord.Part;
import io.latchkey.testkit.proxy.WireRecord.Request;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ByteBufferInputStream;

/**
 * Reads what the proxy needs to know out of frames. It takes copies of the frames' positions only: the bytes travel on
 * untouched. A request in a form that it does not know becomes {@link WireRecord.Op#OTHER} or has no path; it never
 * fails.
 */
final class FrameReader {
    static final int PING_XID = -2;
    static final int EVENT_XID = -1;

    private FrameReader() {}

    /** The fields that every answer and event begins with. */
    record AnswerHeader(int xid, long zxid, int error) {}

    /** A server's answer to a connect, with what a second connection of the same session needs. */
    record ConnectResponse(int timeoutMillis, long session, ByteBuffer password) {
        Connect asRecord(long now, int connection) {
            return new Connect(now, connection, session, timeoutMillis);
        }
    }

    /** The first frame of a connection as a record; it has neither xid nor number. */
    static Request connect(long now, int connection) {
        return new Request(now, connection, 0, WireRecord.Op.CONNECT, "", false, List.of());
    }

    /** Which session the first frame asks for: 0 for a new one. */
    static long sessionAskedFor(ByteBuffer frame) {
        ByteBuffer in = body(frame);
        in.getInt(); // protocol version
        in.getLong(); // last zxid seen
        in.getInt(); // timeout
        return in.getLong();
    }

    static ConnectResponse connected(ByteBuffer frame) {
        ByteBuffer in = body(frame);
        in.getInt(); // protocol version
        int timeout = in.getInt();
        long session = in.getLong();
        ByteBuffer password = in.slice(in.position() + Integer.BYTES, Math.max(0, in.getInt()));
        return new ConnectResponse(timeout, session, password);
    }

    /** The answer to a connect by which a server says that the session asked for is over. */
    static ByteBuffer sessionIsOver() {
        int passwordLength = 16;
        int length = 4 + 4 + 8 + 4 + passwordLength + 1;
        ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + length);
        frame.putInt(length).putInt(0).putInt(0).putLong(0).putInt(passwordLength);
        return frame.rewind();
    }

    static Request request(ByteBuffer frame, long now, int connection) {
        ByteBuffer in = body(frame);
        int xid = in.getInt();
        WireRecord.Op op = WireRecord.Op.of(in.getInt());
        try {
            if (op == WireRecord.Op.MULTI || op == WireRecord.Op.MULTI_READ) {
                List<Part> parts = parts(in);
                String first = parts.isEmpty() ? "" : parts.get(0).path();
                return new Request(now, connection, xid, op, first, false, parts);
            }
            String path = hasPath(op) ? string(in) : "";
            boolean watch =
                    switch (op) {
                        case EXISTS, GET_DATA, GET_CHILDREN, GET_CHILDREN2 -> in.get() != 0;
                        case ADD_WATCH -> true;
                        default -> false;
                    };
            return new Request(now, connection, xid, op, path, watch, List.of());
        } catch (IOException | BufferUnderflowException unknownForm) {
            return new Request(now, connection, xid, op, "", false, List.of());
        }
    }

    static AnswerHeader answerHeader(ByteBuffer frame) {
        ByteBuffer in = body(frame);
        return new AnswerHeader(in.getInt(), in.getLong(), in.getInt());
    }

    /** Makes a request that is nothing to the server but has an answer, with the xid of this one. */
    static ByteBuffer emptyRequest(ByteBuffer frame) {
        byte[] root = {'/'};
        int length = Integer.BYTES + Integer.BYTES + Integer.BYTES + root.length + 1;
        ByteBuffer empty = ByteBuffer.allocate(Integer.BYTES + length);
        empty.putInt(length).putInt(body(frame).getInt()).putInt(ZooDefs.OpCode.exists);
        empty.putInt(root.length).put(root).put((byte) 0);
        return empty.rewind();
    }

    /** Replaces the code of an answer, whose body the client does not read then. */
    static void setError(ByteBuffer frame, int code) {
        frame.putInt(Integer.BYTES + Integer.BYTES + Long.BYTES, code);
    }

    /** Has the first frame ask for a new session. */
    static void askForNewSession(ByteBuffer frame) {
        frame.putLong(Integer.BYTES + Integer.BYTES + Long.BYTES + Integer.BYTES, 0);
    }

    static Event event(ByteBuffer frame, long now, int connection) {
        ByteBuffer in = body(frame);
        in.getInt(); // xid
        long zxid = in.getLong();
        in.getInt(); // error
        EventType type = EventType.fromInt(in.getInt());
        KeeperState state = KeeperState.fromInt(in.getInt());
        return new Event(now, connection, type, state, string(in), zxid);
    }

    private static boolean hasPath(WireRecord.Op op) {
        return switch (op) {
            case CONNECT, PING, RECONFIG, AUTH, SET_WATCHES, SET_WATCHES2, SASL, WHO_AM_I, CLOSE_SESSION, OTHER ->
                false;
            default -> true;
        };
    }

    private static List<Part> parts(ByteBuffer in) throws IOException {
        MultiOperationRecord multi = new MultiOperationRecord();
        multi.deserialize(BinaryInputArchive.getArchive(new ByteBufferInputStream(in)), "multi");
        List<Part> parts = new ArrayList<>();
        for (Op op : multi) {
            parts.add(new Part(WireRecord.Op.of(op.getType()), op.getPath()));
        }
        return List.copyOf(parts);
    }

    private static ByteBuffer body(ByteBuffer frame) {
        return frame.duplicate().position(Integer.BYTES).slice();
    }

    private static String string(ByteBuffer in) {
        byte[] bytes = new byte[Math.max(0, in.getInt())];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}

package io.latchkey.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** 127.0.0.1, whatever the machine prefers: clients are told this address. */
final class Localhost {
    private Localhost() {}

    static InetSocketAddress port(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }
}

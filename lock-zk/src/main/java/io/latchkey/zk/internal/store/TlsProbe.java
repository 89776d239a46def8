// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.queue.PrintableText;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.common.X509Exception;
import org.jspecify.annotations.Nullable;

/**
 * A look at servers with which no session came about: whether TLS is the reason. ZooKeeper's client only logs what went
 * wrong in a handshake. So this makes one of its own, in the same context, and reports its outcome. Without TLS it asks
 * the server for its status in plain text, to which a server with TLS has no answer.
 */
final class TlsProbe {
    private static final int CONNECT_MILLIS = 1000;
    private static final int ANSWER_MILLIS = 2000;
    private static final int MOST_SERVERS = 3;

    /** Five bytes, since a TLS record begins with as many. */
    private static final byte[] STATUS_REQUEST = "srvr\n".getBytes(StandardCharsets.US_ASCII);

    /** The type of the TLS record with which a server may refuse plain text. */
    private static final int ALERT_RECORD = 0x15;

    private static final Pattern ALERT = Pattern.compile("Received fatal alert: (\\w+)");
    /** Alerts by which a server refuses a client's certificate. */
    private static final Pattern REFUSAL = Pattern.compile("\\w*certificate\\w*|unknown_ca|access_denied");
    /** Those by which it says that a client has sent none, as none of its own is one that the server accepts. */
    private static final Pattern GOT_NONE = Pattern.compile("bad_certificate|certificate_required");
    /** The alert of a server that has no protocol and cipher suite in common with a client. */
    private static final String NOTHING_IN_COMMON = "handshake_failure";
    /** What the JDK and ZooKeeper's client say of a certificate that is for another host. */
    private static final Pattern HOST_NAME =
            Pattern.compile("subject alternative|alternative names|no name matching|host name|common name");

    private final TlsSettings settings;

    TlsProbe(TlsSettings settings) {
        this.settings = settings;
    }

    /** The answer to a request in plain text. */
    private enum PlainAnswer {
        TEXT,
        TLS,
        CLOSED,
        SILENCE
    }

    /** Returns the error that explains why there is no connection; empty if TLS does not. */
    Optional<LockServiceUnavailableException> explain(List<InetSocketAddress> servers) {
        for (InetSocketAddress server : servers.subList(0, Math.min(servers.size(), MOST_SERVERS))) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(server.getHostString(), server.getPort()), CONNECT_MILLIS);
            } catch (IOException away) {
                continue;
            }
            return settings.isSecure() ? withTls(server) : withoutTls(server);
        }
        return Optional.empty();
    }

    // ---- a client with TLS

    private Optional<LockServiceUnavailableException> withTls(InetSocketAddress server) {
        SSLContext context;
        try {
            context = settings.context();
        } catch (X509Exception changed) {
            return Optional.of(TlsSettings.wrong(
                    "The TLS settings of ZooKeeper's client cannot be used any more: " + changed.getMessage()
                            + ". Nothing was sent.",
                    changed));
        }
        return handshake(context, server);
    }

    private Optional<LockServiceUnavailableException> handshake(SSLContext context, InetSocketAddress server) {
        Certificate @Nullable [] own = null;
        try (SSLSocket socket = connect(context, server)) {
            if (settings.jdkChecksHostName()) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            socket.startHandshake();
            own = Optional.ofNullable(socket.getSession().getLocalCertificates())
                    .orElseGet(() -> new Certificate[0]);
            // By TLS 1.3 a server looks at the client's certificate when the client is done already.
            return socket.getInputStream().read() < 0
                    ? Optional.of(refusedByServer(server, "it closed the connection", own, null))
                    : Optional.empty();
        } catch (SocketTimeoutException waiting) {
            // The server waits for a client whose handshake is complete; or it is silent, which is not TLS's fault.
            return Optional.empty();
        } catch (SSLException failed) {
            return failed(server, failed, own);
        } catch (IOException broken) {
            return Optional.of(ended(server, broken));
        }
    }

    private Optional<LockServiceUnavailableException> failed(
            InetSocketAddress server, SSLException failed, Certificate @Nullable [] own) {
        Matcher alert = ALERT.matcher(String.valueOf(failed.getMessage()));
        String name = alert.find() ? alert.group(1).toLowerCase(Locale.ROOT) : "";
        if (REFUSAL.matcher(name).matches()) {
            return Optional.of(refusedByServer(server, "TLS alert " + name, own, failed));
        }
        Optional<Throwable> certificate = TlsSettings.causes(failed)
                .filter(CertificateException.class::isInstance)
                .findFirst();
        if (certificate.isPresent()) {
            return Optional.of(refusedByClient(server, failed));
        }
        if (TlsSettings.causes(failed).anyMatch(EOFException.class::isInstance)
                || String.valueOf(failed.getMessage()).contains("SSL message")) {
            return Optional.of(ended(server, failed));
        }
        return Optional.of(refused(
                "The TLS handshake with the ZooKeeper server " + named(server) + " failed: "
                        + TlsSettings.deepest(failed) + ". Compare protocols and cipher suites of both sides."
                        + (name.equals(NOTHING_IN_COMMON)
                                ? " Some servers also say so if no certificate of this client is one that they accept."
                                : ""),
                failed));
    }

    private LockServiceUnavailableException refusedByClient(InetSocketAddress server, SSLException failed) {
        String whose = "This client refuses the certificate of the ZooKeeper server " + named(server) + ": ";
        String why = TlsSettings.deepest(failed);
        if (TlsSettings.causes(failed)
                .anyMatch(each -> each instanceof CertificateExpiredException
                        || each instanceof CertificateNotYetValidException)) {
            return refused(
                    whose + "it is not valid now (" + why
                            + "). Renew the server's certificate, or correct the clock of this machine.",
                    failed);
        }
        if (TlsSettings.causes(failed)
                .map(each -> String.valueOf(each.getMessage()).toLowerCase(Locale.ROOT))
                .anyMatch(said -> HOST_NAME.matcher(said).find())) {
            return refused(
                    whose + "it is not for this host (" + why
                            + "). Name the server in the connect string as its certificate names it, or add the name to the"
                            + " certificate.",
                    failed);
        }
        return refused(
                whose + "no authority that this client trusts has signed it (" + why
                        + "). Add the server's authority to the" + " store of " + settings.trustStoreSetting() + ".",
                failed);
    }

    /**
     * @param own the certificates that this client has sent; null if it is not known
     */
    private LockServiceUnavailableException refusedByServer(
            InetSocketAddress server, String answer, Certificate @Nullable [] own, @Nullable SSLException failed) {
        String whose = "The ZooKeeper server " + named(server) + " refuses ";
        if (settings.keyStore().isEmpty()) {
            return refused(
                    whose + "a client without a certificate (" + answer + "). Set " + settings.keyStoreSetting()
                            + " and its password.",
                    failed);
        }
        String store = settings.keyStore().get();
        if (own == null ? GOT_NONE.matcher(answer).find() : own.length == 0) {
            return refused(
                    whose + "this client (" + answer + "): the store " + store
                            + " has no certificate of an authority that the server accepts. Use one that such an authority has"
                            + " signed, or add this client's authority to the trust store of the server.",
                    failed);
        }
        if (own == null) {
            return refused(
                    whose + "the certificate of this client in " + store + " (" + answer
                            + "). Use one that is valid and that an authority of the server has signed, or add this client's"
                            + " authority to the trust store of the server.",
                    failed);
        }
        X509Certificate sent = (X509Certificate) own[0];
        String described = PrintableText.printable(
                "the certificate " + sent.getSubjectX500Principal() + " of this client, issued by "
                        + sent.getIssuerX500Principal(),
                PrintableText.LONGEST);
        Instant until = sent.getNotAfter().toInstant();
        return until.isBefore(Instant.now())
                ? refused(
                        whose + described + " (" + answer + "): it expired at " + until + ". Renew it in " + store
                                + ".",
                        failed)
                : refused(
                        whose + described + " (" + answer
                                + "). Use one that the server accepts, or add this client's authority to the trust store of the"
                                + " server.",
                        failed);
    }

    private LockServiceUnavailableException ended(InetSocketAddress server, IOException failed) {
        String why = " (" + TlsSettings.deepest(failed) + "). ";
        if (ask(server) == PlainAnswer.TEXT) {
            return TlsSettings.wrong(
                    "The ZooKeeper server " + named(server)
                            + " has no TLS at this port, and this client connects with TLS"
                            + why
                            + "Nothing was sent. Give the port that the servers have for TLS (secureClientPort), or connect"
                            + " without TLS.",
                    failed);
        }
        return refused(
                "The ZooKeeper server " + named(server) + " ended the TLS handshake and gave no reason" + why
                        + "Its log may say why.",
                failed);
    }

    // ---- a client without TLS

    private Optional<LockServiceUnavailableException> withoutTls(InetSocketAddress server) {
        PlainAnswer answer = ask(server);
        if (answer != PlainAnswer.TLS && (answer != PlainAnswer.CLOSED || !acceptsTls(server))) {
            return Optional.empty();
        }
        String expects = "The ZooKeeper server " + named(server) + " expects TLS at this port, ";
        return Optional.of(TlsSettings.wrong(
                settings.storeSetting()
                        .map(store -> expects + "and this client connects without it: " + store
                                + " is set, but zookeeper.client.secure is not true. Nothing was sent. Set "
                                + TlsSettings.wanted() + ".")
                        .orElse(expects + "and this client is configured without TLS. Nothing was sent. Set "
                                + TlsSettings.wanted() + ", and the stores of keys and of trusted certificates."),
                null));
    }

    private static boolean acceptsTls(InetSocketAddress server) {
        try {
            SSLContext any = SSLContext.getInstance("TLS");
            any.init(null, null, null);
            try (SSLSocket socket = connect(any, server)) {
                socket.startHandshake();
                return true;
            }
        } catch (SSLException failed) {
            return ALERT.matcher(String.valueOf(failed.getMessage())).find()
                    || TlsSettings.causes(failed).anyMatch(CertificateException.class::isInstance);
        } catch (IOException | GeneralSecurityException unknown) {
            return false;
        }
    }

    /** Asks for the server's status in plain text. */
    private static PlainAnswer ask(InetSocketAddress server) {
        try (Socket socket = connect(server)) {
            socket.getOutputStream().write(STATUS_REQUEST);
            int first = socket.getInputStream().read();
            if (first < 0) {
                return PlainAnswer.CLOSED;
            }
            return first == ALERT_RECORD ? PlainAnswer.TLS : PlainAnswer.TEXT;
        } catch (SocketTimeoutException silent) {
            return PlainAnswer.SILENCE;
        } catch (IOException broken) {
            return PlainAnswer.CLOSED;
        }
    }

    // ---- connections and texts

    /**
     * A socket whose writes do not fail. A server that refuses a certificate may close the connection while the client
     * still writes, and its alert is to be read then.
     */
    private static final class ReadingSocket extends Socket {
        @Override
        public OutputStream getOutputStream() throws IOException {
            OutputStream out = super.getOutputStream();
            return new OutputStream() {
                @Override
                public void write(int single) {
                    write(new byte[] {(byte) single}, 0, 1);
                }

                @Override
                public void write(byte[] bytes, int from, int length) {
                    try {
                        out.write(bytes, from, length);
                    } catch (IOException closed) {
                        // The next read says it.
                    }
                }
            };
        }
    }

    private static Socket connect(InetSocketAddress server) throws IOException {
        Socket socket = new ReadingSocket();
        try {
            socket.connect(new InetSocketAddress(server.getHostString(), server.getPort()), CONNECT_MILLIS);
            socket.setSoTimeout(ANSWER_MILLIS);
            return socket;
        } catch (IOException cannot) {
            socket.close();
            throw cannot;
        }
    }

    private static SSLSocket connect(SSLContext context, InetSocketAddress server) throws IOException {
        Socket socket = connect(server);
        try {
            return (SSLSocket)
                    context.getSocketFactory().createSocket(socket, server.getHostString(), server.getPort(), true);
        } catch (IOException cannot) {
            socket.close();
            throw cannot;
        }
    }

    private static String named(InetSocketAddress server) {
        return server.getHostString() + ":" + server.getPort();
    }

    private static LockServiceUnavailableException refused(String message, @Nullable Throwable cause) {
        return TlsSettings.error(message + " Nothing was sent but the handshake.", Reason.TLS_REFUSED, cause);
    }
}

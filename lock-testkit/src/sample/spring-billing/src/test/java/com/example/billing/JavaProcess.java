// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A JVM of its own, with what it prints in a file. */
final class JavaProcess implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(120);
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    private final Path log;
    private final Process process;

    private JavaProcess(Path log, List<String> arguments) throws IOException {
        this.log = log;
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    /** The packaged service, at a free port. */
    static JavaProcess service(Path log, String servers, String... settings) throws IOException {
        return service(log, List.of(), servers, settings);
    }

    /** The packaged service, at a free port, with options of its JVM. */
    static JavaProcess service(Path log, List<String> options, String servers, String... settings) throws IOException {
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of(
                "-jar",
                System.getProperty("billing.jar"),
                "--server.port=0",
                "--latchkey.connect-string=" + servers));
        arguments.addAll(List.of(settings));
        return new JavaProcess(log, arguments);
    }

    /** A class of this project's test class path. */
    static JavaProcess ofClass(Path log, List<String> options, String... classAndArguments) throws IOException {
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of("-cp", System.getProperty("java.class.path")));
        arguments.addAll(List.of(classAndArguments));
        return new JavaProcess(log, arguments);
    }

    String log() {
        try {
            return Files.readString(log);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    void awaitLine(String part) throws InterruptedException {
        try {
            Eventually.holds(part, SOON, () -> log().contains(part) || !process.isAlive());
        } catch (AssertionError late) {
            throw new AssertionError(log(), late);
        }
        if (!log().contains(part)) {
            throw new AssertionError("ended with " + process.exitValue() + ":\n" + log());
        }
    }

    /** The status of an answer of the service. */
    int status(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    /** The status of a charge. */
    int charge(String account) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri("/accounts/" + account + "/charges?cents=1"))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build());
    }

    private static int send(HttpRequest request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private URI uri(String path) throws InterruptedException {
        awaitLine("Tomcat started on port");
        Matcher port = PORT.matcher(log());
        if (!port.find()) {
            throw new IllegalStateException("no port in " + log());
        }
        return URI.create("http://127.0.0.1:" + port.group(1) + path);
    }

    /** SIGTERM, to this process alone. */
    void terminate() {
        process.destroy();
    }

    /** The exit status, once it has ended. */
    int ended() throws InterruptedException {
        if (!process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("goes on: " + log());
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

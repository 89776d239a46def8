// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;

/**
 * The names of another library: a unique text, a marker for the requested access, and the server's number. Only the
 * owner of a request reads the text before the marker. Latchkey's begins with the eight letters of that word in
 * hexadecimal, so that people and Latchkey itself recognize it.
 *
 * @param library the library whose names these are
 * @param markers the markers, with the access and the kinds of lock that each stands for
 * @param before the beginning of names that Latchkey gives
 * @param idForm the form of an id behind that; it is parsed by removing the dashes
 * @param behindId the text between the id and the marker
 * @param keepsEmptyPaths see {@link Naming#keepsEmptyPaths()}
 * @param ownerOf the owner that the data of another library's node names
 */
record SharedNaming(
        String library,
        List<Marker> markers,
        String before,
        Function<String, String> idForm,
        String behindId,
        boolean keepsEmptyPaths,
        Function<String, OwnerData> ownerOf)
        implements Naming {
    /** The last part of the UUID has sixteen digits, written as four and twelve. */
    private static final int FOUR = 4;

    /** A marker in a name, with the access and the kinds of lock that it stands for. */
    record Marker(String text, Tag tag, Set<Kind> kinds) {
        Marker(String text, Tag tag, Kind... kinds) {
            this(text, tag, Set.of(kinds));
        }
    }

    /**
     * Returns the naming of Curator: {@code _c_<UUID>-lock-<number>} and the like. Curator writes the address of its
     * machine into nodes.
     */
    static SharedNaming curator() {
        return new SharedNaming(
                "Curator",
                List.of(
                        new Marker("lock-", Tag.WRITE, Kind.MUTEX),
                        new Marker("__WRIT__", Tag.WRITE, Kind.READ_WRITE),
                        new Marker("__READ__", Tag.READ, Kind.READ_WRITE),
                        new Marker("lease-", Tag.LEASE, Kind.SEMAPHORE)),
                "_c_4c617463-686b-6579-",
                id -> id.substring(0, FOUR) + '-' + id.substring(FOUR),
                "-",
                false,
                text -> new OwnerData(text, 0, ""));
    }

    /**
     * Returns the naming of kazoo: {@code <32 digits>__lock__<number>}, also for a write lock. kazoo writes the
     * identifier that its user chose into nodes.
     */
    static SharedNaming kazoo() {
        return new SharedNaming(
                "kazoo",
                List.of(
                        new Marker("__lock__", Tag.WRITE, Kind.MUTEX, Kind.READ_WRITE),
                        new Marker("__rlock__", Tag.READ, Kind.READ_WRITE)),
                "4c617463686b6579",
                id -> id,
                "",
                true,
                text -> new OwnerData("", 0, text));
    }

    @Override
    public String prefix(Kind kind, Tag tag, String id, int permits) {
        return ownPrefix(id) + marker(kind, tag).text();
    }

    private String ownPrefix(String id) {
        return before + idForm.apply(id) + behindId;
    }

    private Marker marker(Kind kind, Tag tag) {
        return markers.stream()
                .filter(marker -> marker.tag() == tag && marker.kinds().contains(kind))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(library + " has no " + tag + " of a " + kind.text()));
    }

    @Override
    public Optional<NodeName> parse(String child) {
        int digitsFrom = child.length() - NodeName.DIGITS;
        if (digitsFrom <= 0 || !NodeName.isDigits(child, digitsFrom, child.length())) {
            return Optional.empty();
        }
        return markers.stream()
                .flatMap(marker -> parse(marker, child, digitsFrom).stream())
                .findFirst();
    }

    private Optional<NodeName> parse(Marker marker, String child, int digitsFrom) {
        int numberFrom = digitsFrom;
        if (!endsAt(child, marker.text(), numberFrom)) {
            numberFrom--;
            if (child.charAt(numberFrom) != '-' || !endsAt(child, marker.text(), numberFrom)) {
                return Optional.empty();
            }
        }
        OptionalInt sequence = NodeName.appended(child, numberFrom);
        if (sequence.isEmpty()) {
            return Optional.empty();
        }
        String head = child.substring(0, numberFrom - marker.text().length());
        return Optional.of(new NodeName(marker.tag(), idIn(head).orElse(head), 1, sequence.getAsInt(), child));
    }

    private static boolean endsAt(String child, String text, int end) {
        return child.startsWith(text, end - text.length());
    }

    /** Returns the id if Latchkey gave the name. */
    private Optional<String> idIn(String head) {
        if (!head.startsWith(before)) {
            return Optional.empty();
        }
        String id = head.substring(before.length()).replace("-", "");
        return id.length() == NodeName.ID_LENGTH && ownPrefix(id).equals(head) ? Optional.of(id) : Optional.empty();
    }

    @Override
    public boolean isOf(NodeName name, Kind kind) {
        return markerOf(name).kinds().contains(kind);
    }

    private Marker markerOf(NodeName name) {
        int end = name.text().length() - NodeName.DIGITS - (name.sequence() < 0 ? 1 : 0);
        return markers.stream()
                .filter(marker -> endsAt(name.text(), marker.text(), end))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public NodeName inPlace(NodeName name, Tag other) {
        Marker is = markerOf(name);
        Marker becomes = marker(Kind.READ_WRITE, other);
        int end = name.text().length() - NodeName.DIGITS;
        String head = name.text().substring(0, end - is.text().length());
        return parse(head + becomes.text() + name.text().substring(end)).orElseThrow();
    }

    @Override
    public OwnerData owner(NodeName name, byte[] data) {
        if (isOwn(name)) {
            return OwnerData.parse(data);
        }
        String text = new String(data, StandardCharsets.UTF_8);
        return PrintableText.isPrintable(text) ? ownerOf.apply(text) : OwnerData.UNKNOWN;
    }

    /** Returns whether Latchkey gave this name. */
    private boolean isOwn(NodeName name) {
        return name.id().length() == NodeName.ID_LENGTH && name.text().startsWith(ownPrefix(name.id()));
    }

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public Optional<OtherUse> otherUse(Kind kind, String child) {
        if (NodeName.parse(child).isPresent()) {
            return Optional.of(new OtherUse(child, "a lock of Latchkey in its own layout", false));
        }
        return parse(child)
                .map(this::markerOf)
                .map(marker -> new OtherUse(
                        child,
                        library + "'s "
                                + String.join(
                                        " or ",
                                        marker.kinds().stream()
                                                .map(Kind::noun)
                                                .sorted()
                                                .toList()),
                        true));
    }
}

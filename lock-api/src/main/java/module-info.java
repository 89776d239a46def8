/** The contract of Latchkey's distributed locks. It needs nothing but the Java platform at run time. */
@org.jspecify.annotations.NullMarked
module io.latchkey.lock {
    requires static org.jspecify;

    exports io.latchkey.lock;
    exports io.latchkey.lock.admin;
    exports io.latchkey.lock.spi;
}

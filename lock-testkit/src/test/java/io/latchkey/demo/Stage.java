package io.latchkey.demo;

/** Where a scenario is played. */
record Stage(Servers servers, Options.Mode mode, Screen screen) {}

#!/bin/sh
# Latchkey @version@, the command: a launcher, with a jar behind it. Apache License 2.0. Needs Java 17 or later: JAVA_HOME, or java on the
# PATH. LATCHKEY_JAVA_OPTIONS has more options for it.

# A closed stream would be a file of the JVM's, and of the command that is run.
# Standard error first, and without a redirection, which would open it. Where it is closed, bash may read this file there.
{ true 3>&2; } || exec 2>/dev/null
! [ /dev/fd/2 -ef "$0" ] || exec 2>/dev/null
{ true 3<&0; } 2>/dev/null || exec 0</dev/null
{ true 3>&1; } 2>/dev/null || exec 1>/dev/null

# "bash latchkey" finds this file by the PATH, and does not say where it is.
if ! [ -r "$0" ]; then
    echo "latchkey: this file is not found as $0. Give its whole path. Nothing was done." >&2
    exit 78
fi

java=${JAVA_HOME:+$JAVA_HOME/bin/java}
: "${java:=$(command -v java)}"
if ! [ -x "$java" ]; then
    echo "latchkey: no Java is found${JAVA_HOME:+ in JAVA_HOME, $JAVA_HOME}. Install Java 17 or later, or set JAVA_HOME. Nothing was done." >&2
    exit 78
fi

# The version of this Java, from the file that each JDK and JRE has.
home=${JAVA_HOME:-}
if [ -z "$home" ]; then
    home=$(readlink -f "$java" 2>/dev/null)
    home=${home%/bin/java}
fi
version=
if [ -r "$home/release" ]; then
    while IFS='=' read -r name value; do
        if [ "$name" = JAVA_VERSION ]; then
            version=${value#\"}
            version=${version%\"*}
        fi
    done <"$home/release"
fi
major=${version%%[!0-9]*}
if [ -n "$major" ] && [ "$major" -lt 17 ]; then
    echo "latchkey: Java $version in $home is too old. Install Java 17 or later, or set JAVA_HOME. Nothing was done." >&2
    exit 78
fi

# Java 19 and later keep the classes of the first run in a file, by which later ones start sooner: a file for each kind of command, since they
# use different classes. One that is broken is not worth a word.
archive=
if [ "${major:-0}" -ge 19 ]; then
    cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
    if [ -n "$cache" ] && { [ -d "$cache/latchkey" ] || mkdir -p "$cache/latchkey" 2>/dev/null; } && [ -w "$cache/latchkey" ]; then
        case ${1:-} in
            run | ls | show | top | watch | ping | ask | evict | resize) kind=$1 ;;
            *) kind=help ;;
        esac
        [ "$kind" = run ] || [ "$kind" = help ] || kind=look
        archive=$cache/latchkey/@version@-java-$version-$kind.jsa
    fi
fi

# shellcheck disable=SC2086
exec "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+DisplayVMOutputToStderr -Xlog:disable -Xshare:auto \
    ${archive:+-XX:+AutoCreateSharedArchive "-XX:SharedArchiveFile=$archive" -XX:-PrintWarnings} \
    ${LATCHKEY_JAVA_OPTIONS:-} -jar "$0" "$@"
exit 78

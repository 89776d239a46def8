"""Does with kazoo's locks what it reads, line by line, and tells what became of it. Ends with its input.

  acquire ID lock|read|write PATH MILLIS     granted ID | refused ID | failed ID WHY   (no limit if MILLIS is negative)
  release ID                                 released ID
                                             lost          (the session is over)
"""
import sys
import threading

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout

KINDS = {"lock": "Lock", "read": "ReadLock", "write": "WriteLock"}
held = {}
speaking = threading.Lock()


def say(*words):
    with speaking:
        print(*words, flush=True)


def acquire(client, number, kind, path, millis):
    try:
        lock = getattr(client, KINDS[kind])(path, "kazoo")
        granted = lock.acquire(timeout=None if millis < 0 else millis / 1000.0)
        if granted:
            held[number] = lock
        say("granted" if granted else "refused", number)
    except LockTimeout:
        say("refused", number)
    except Exception as failed:
        say("failed", number, repr(failed))


def release(number):
    try:
        held.pop(number).release()
    finally:
        say("released", number)


def main(servers, millis):
    client = KazooClient(hosts=servers, timeout=millis / 1000.0)
    client.add_listener(lambda state: say("lost") if state == KazooState.LOST else None)
    client.start(timeout=30)
    say("connected")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            asked = (client, words[1], words[2], words[3], int(words[4]))
            threading.Thread(target=acquire, args=asked, daemon=True).start()
        else:
            threading.Thread(target=release, args=(words[1],), daemon=True).start()


main(sys.argv[1], int(sys.argv[2]))

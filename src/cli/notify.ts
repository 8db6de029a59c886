// Tells systemd what the program is doing (sd_notify): messages to the socket that NOTIFY_SOCKET names. Loaded only where it is set.
// The platform has no datagrams on Unix sockets, so the C library is called.

import { dlopen, ptr } from "bun:ffi";
import { environment } from "../config/load.ts";

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
const MSG_NOSIGNAL_DONTWAIT = 0x4000 | 0x40;
const LIBRARIES = ["libc.so.6", "libc.so", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** A function that tells systemd the program's state. It also shows regularly that the program lives, if systemd asks for that. */
export function supervisor(): (message: string) => void {
  const { NOTIFY_SOCKET = "", WATCHDOG_USEC = "" } = environment();
  const tell = notifier(NOTIFY_SOCKET) ?? (() => undefined);
  const limitMs = Number(WATCHDOG_USEC) / 1000;
  if (limitMs > 0) setInterval(tell, limitMs / 2, "WATCHDOG=1").unref();
  return tell;
}

/** A function that sends a message; undefined if there is no such socket or library. It never throws. */
function notifier(address: string): ((message: string) => void) | undefined {
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : address);
  if (path.length === 0 || path.length > 107) return undefined;
  for (const library of LIBRARIES) {
    try {
      const { symbols } = dlopen(library, {
        socket: { args: ["i32", "i32", "i32"], returns: "i32" },
        sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
      });
      const socket = symbols.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
      if (socket < 0) return undefined;
      const target = Buffer.alloc(2 + path.length + (address.startsWith("@") ? 0 : 1));
      target.writeUInt16LE(AF_UNIX, 0);
      path.copy(target, 2);
      return (message) => {
        const bytes = Buffer.from(message);
        symbols.sendto(socket, ptr(bytes), bytes.length, MSG_NOSIGNAL_DONTWAIT, ptr(target), target.length);
      };
    } catch {
      // Another name of the library may exist.
    }
  }
  return undefined;
}

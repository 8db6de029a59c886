// Modules of the platform that cost a start several milliseconds and megabytes: each is loaded when its first use asks for it.
// A file that imports one statically loads it at every start.

import { lazily } from "./lazily.ts";

/** Sockets. */
export const nodeNet = lazily(() => process.getBuiltinModule("node:net"));
/** Sockets with TLS. */
export const nodeTls = lazily(() => process.getBuiltinModule("node:tls"));
/** Compression. */
export const nodeZlib = lazily(() => process.getBuiltinModule("node:zlib"));
/** What neither Web Crypto nor the runtime's own hasher does synchronously. */
export const nodeCrypto = lazily(() => process.getBuiltinModule("node:crypto"));
/** Names of hosts. */
export const nodeDns = lazily(() => process.getBuiltinModule("node:dns/promises"));

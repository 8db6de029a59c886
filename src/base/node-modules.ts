// Modules of the platform that cost a start several milliseconds and megabytes: each is loaded when its first use asks for it.
// A file that imports one statically loads it at every start.

import { lazy } from "./lazy.ts";

/** Sockets. */
export const nodeNet = lazy(() => process.getBuiltinModule("node:net"));
/** Sockets with TLS. */
export const nodeTls = lazy(() => process.getBuiltinModule("node:tls"));
/** Compression. */
export const nodeZlib = lazy(() => process.getBuiltinModule("node:zlib"));
/** What neither Web Crypto nor the runtime's own hasher does synchronously. */
export const nodeCrypto = lazy(() => process.getBuiltinModule("node:crypto"));
/** Names of hosts. */
export const nodeDns = lazy(() => process.getBuiltinModule("node:dns/promises"));

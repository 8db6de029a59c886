// Bytes that are compressed for more than one use, such as a page that is stored and sent to another process. Each is compressed
// once while it is held.

/** The fastest level, since every page waits for it. */
const LEVEL = 1;

const known = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/** The bytes in Zstandard. They must not be changed any more. */
export function packed(bytes: Uint8Array): Promise<Uint8Array> {
  let packing = known.get(bytes);
  if (packing === undefined) {
    packing = Bun.zstdCompress(bytes, { level: LEVEL });
    known.set(bytes, packing);
  }
  return packing;
}

/** A number that depends on every byte and its position. */
export function digestOf(bytes: Uint8Array): number {
  let digest = 0;
  for (const [index, byte] of bytes.entries()) digest = (digest + byte * ((index % 7) + 1)) % 1_000_007;
  return digest;
}

// The two encodings of a vector: a list of numbers, and base64 of little-endian 32-bit floats, as OpenAI sends them.

/** The numbers of a vector in either encoding. Throws `TypeError` if it is not a vector. */
export function floatsOf(vector: unknown): readonly number[] {
  if (Array.isArray(vector) && vector.every((one) => typeof one === "number")) return vector as number[];
  if (typeof vector !== "string") throw new TypeError("A vector must be a list of numbers or base64.");
  const bytes = Buffer.from(vector, "base64");
  if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0)
    throw new TypeError("The base64 of a vector must contain 32-bit floats.");
  return Array.from({ length: bytes.byteLength / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

/** A vector in base64. Throws `TypeError` if it is not a vector. */
export function encodeFloats(vector: unknown): string {
  const floats = floatsOf(vector);
  const bytes = Buffer.alloc(4 * floats.length);
  for (const [at, value] of floats.entries()) bytes.writeFloatLE(value, 4 * at);
  return bytes.toString("base64");
}

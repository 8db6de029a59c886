// Masks a secret in a stream of bytes, even if it is split between two pieces. The mask has the same length as the secret, so
// that announced lengths stay correct.

const STAR = 0x2a;

/** Shorter secrets are not masked, since their letters occur everywhere. */
const SECRET_CHARS_MIN = 8;

/** Masks the pieces of a stream in order. `push` takes each piece; at the end, `end` returns the bytes that were held back. */
export class SecretMask {
  readonly #secret: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(secret: string) {
    this.#secret = Buffer.from(secret.length < SECRET_CHARS_MIN ? "" : secret);
  }

  /** Returns the bytes that can be sent on. The end is held back if it may be the beginning of the secret. */
  push(bytes: Uint8Array): Uint8Array {
    const { length } = this.#secret;
    if (length === 0) return bytes;
    const whole = this.#held.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes]);
    for (let at = whole.indexOf(this.#secret); at >= 0; at = whole.indexOf(this.#secret, at + length)) {
      whole.fill(STAR, at, at + length);
    }
    const keep = this.#beginningAtEnd(whole);
    this.#held = Buffer.from(whole.subarray(whole.length - keep));
    return whole.subarray(0, whole.length - keep);
  }

  /** Returns the bytes that were held back and turned out not to be the secret. */
  end(): Uint8Array {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return held;
  }

  #beginningAtEnd(bytes: Buffer): number {
    const secret = this.#secret;
    for (let keep = Math.min(secret.length - 1, bytes.length); keep > 0; keep--) {
      if (bytes.subarray(bytes.length - keep).equals(secret.subarray(0, keep))) return keep;
    }
    return 0;
  }
}

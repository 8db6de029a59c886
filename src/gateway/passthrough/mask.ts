// Takes one secret out of bytes that stream by, also where it is split between two pieces. What stands instead has the same
// length, so that lengths that were announced stay true.

const STAR = 0x2a;

/** Masks a secret. Shorter ones than this are not looked for: their letters stand everywhere. */
const SECRET_CHARS_MIN = 8;

/** Masks in order: every piece is pushed once, then `end` gives what was held back. */
export class SecretMask {
  readonly #secret: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(secret: string) {
    this.#secret = Buffer.from(secret.length < SECRET_CHARS_MIN ? "" : secret);
  }

  /** What of all that came can be given on; the end that may be the beginning of the secret is held back. */
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

  /** What was held back and is not the secret after all. */
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

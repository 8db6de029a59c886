// Seals text that leaves the process: records that clients carry, and texts stored in the database. It uses AES-256-GCM with a
// key derived from one secret, bound to the account and the purpose. Text sealed for one account and purpose cannot be opened for
// another.

import { jsonInTurns } from "../../../base/json-in-slices.ts";
import { lazily } from "../../../base/lazily.ts";
import { nodeCrypto } from "../../../base/node-modules.ts";

/** The account and the purpose for which a text is sealed. */
export interface SealedFor {
  accountId: string;
  purpose: "item" | "thread" | "summary" | "answer";
}

/** The prefix of sealed texts. No vendor's value can begin like this, since no base64 alphabet contains the dot. */
const MARK = "sallyport.c1.";
/** Shorter texts are not compressed, which would take longer than all else. */
const COMPRESSED_BYTES_MIN = 1024;
/** The first bytes of every zstd frame (RFC 8878, section 3.1.1). */
const ZSTD_MAGIC = 0xfd2fb528;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Characters from which a value is compressed in a thread, and compressed bytes from which it is unpacked in one. */
const IN_STEPS_CHARS = 512 * 1024;
const IN_STEPS_PACKED_BYTES = 64 * 1024;

/** Seals and opens texts. */
export class Sealer {
  readonly #key: () => Buffer;

  constructor(secret: string) {
    this.#key = lazily(() => Buffer.from(nodeCrypto().hkdfSync("sha256", secret, "", "sallyport compaction 1", 32)));
  }

  /** Seals a text as bytes that only this gateway can open. */
  seal(text: string, bound: SealedFor): Buffer {
    const bytes = Buffer.from(text);
    return this.#encrypted(bytes.length < COMPRESSED_BYTES_MIN ? bytes : Bun.zstdCompressSync(bytes), bound);
  }

  /** Seals a value of any size as JSON. A large one is serialised in steps and compressed in a thread. */
  async sealValue(value: unknown, bound: SealedFor): Promise<Buffer> {
    return this.sealLong(await jsonInTurns(value), bound);
  }

  /** Seals a text of any size; a large one is compressed in a thread. */
  async sealLong(text: string, bound: SealedFor): Promise<Buffer> {
    if (text.length < IN_STEPS_CHARS) return this.seal(text, bound);
    return this.#encrypted(await Bun.zstdCompress(Buffer.from(text)), bound);
  }

  /** Opens what `sealValue` sealed, in the same way; undefined if it was not sealed for this account and purpose. */
  async openValue(bytes: Uint8Array, bound: SealedFor): Promise<unknown> {
    const packed = this.#decrypted(bytes, bound);
    if (packed === undefined) return undefined;
    const isLarge = packed.length > IN_STEPS_PACKED_BYTES;
    const content = isLarge ? await Bun.zstdDecompress(packed) : unpacked(packed);
    return JSON.parse(new TextDecoder().decode(content));
  }

  #encrypted(packed: Uint8Array, bound: SealedFor): Buffer {
    const iv = crypto.getRandomValues(Buffer.alloc(IV_BYTES));
    const cipher = nodeCrypto().createCipheriv("aes-256-gcm", this.#key(), iv).setAAD(boundTo(bound));
    const sealed = Buffer.concat([cipher.update(packed), cipher.final()]);
    return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
  }

  /** Opens sealed bytes; undefined if they were not sealed for this account and purpose. */
  open(bytes: Uint8Array, bound: SealedFor): string | undefined {
    const packed = this.#decrypted(bytes, bound);
    return packed === undefined ? undefined : new TextDecoder().decode(unpacked(packed));
  }

  #decrypted(bytes: Uint8Array, bound: SealedFor): Buffer | undefined {
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
    const end = bytes.length - TAG_BYTES;
    const decipher = nodeCrypto()
      .createDecipheriv("aes-256-gcm", this.#key(), bytes.subarray(0, IV_BYTES))
      .setAAD(boundTo(bound))
      .setAuthTag(bytes.subarray(end));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, end)), decipher.final()]);
    } catch {
      // Decryption fails if the account or the secret differs, or if the value was changed.
      return undefined;
    }
  }

  /** Seals a text as a string that a client can carry. */
  sealText(text: string, accountId: string): string {
    return MARK + this.seal(text, { accountId, purpose: "item" }).toString("base64url");
  }

  /** Opens a text that `sealText` sealed for this account; undefined for any other text. */
  openText(sealed: string, accountId: string): string | undefined {
    if (!isSealedHere(sealed)) return undefined;
    const text = sealed.slice(MARK.length);
    const bytes = Buffer.from(text, "base64url");
    // Decoding skips invalid base64 characters, so a changed text could pass without this check.
    if (bytes.toString("base64url") !== text) return undefined;
    return this.open(bytes, { accountId, purpose: "item" });
  }
}

/** The bytes of a text. Compressed ones begin with a number that no text begins with, since it is no UTF-8. */
function unpacked(packed: Buffer): Uint8Array {
  return packed.length >= 4 && packed.readUInt32LE(0) === ZSTD_MAGIC ? Bun.zstdDecompressSync(packed) : packed;
}

/** Whether a text has the gateway's prefix, even if it cannot be opened. */
export function isSealedHere(text: string): boolean {
  return text.startsWith(MARK);
}

function boundTo({ accountId, purpose }: SealedFor): Buffer {
  return Buffer.from(`${purpose}\u0000${accountId}`);
}

// What authenticates calls where a key in a header is not enough: signatures, and tokens that expire.

import type { AtOnce } from "../../base/at-once.ts";
import { UpstreamFault } from "../fault.ts";

/** A call as it will be sent. */
export interface OutgoingCall {
  readonly method: string;
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | readonly Uint8Array[] | undefined;
}

/** The part of an answer by which a refusal is judged. */
export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
}

/** Statuses with which servers refuse a signature or a token. */
export const REFUSALS: readonly number[] = [400, 401, 403];

/** A signature covers the whole body, so a body that is sent as it arrives is collected first. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** A body that is collected. */
export class CollectedBody {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  /** Throws `UpstreamFault` if it becomes too large. */
  add(chunk: Uint8Array): void {
    this.#size += chunk.byteLength;
    if (this.#size > BODY_BYTES_MAX)
      throw new UpstreamFault("bad_request", "The body is too large for this provider.", { status: 413 });
    this.#chunks.push(chunk);
  }

  whole(): Uint8Array<ArrayBuffer> {
    return Buffer.concat(this.#chunks, this.#size);
  }
}

/** A credential of one of the kinds. */
export interface Credential {
  /** The headers that authenticate the call. Throws `UpstreamFault` if there are none, or the signal's reason. */
  headers(call: OutgoingCall, signal?: AbortSignal): AtOnce<Readonly<Record<string, string>>>;
  /**
   * Told of an answer that refuses the call that was sent with these headers. True if the same call may succeed with other
   * ones, which are then asked for once.
   */
  refused(answer: Refusal, sent: Readonly<Record<string, string>>): boolean;
  /** Which one is used, without anything secret: `access keys of the environment`. Throws as `headers` does. */
  describe(): Promise<string>;
}

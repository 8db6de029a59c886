// What authenticates calls where a key in a header is not enough: signatures, and tokens that expire.

import type { AtOnce } from "../../base/at-once.ts";

/** A call as it will be sent. */
export interface OutgoingCall {
  readonly method: string;
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** A credential of one of the kinds. */
export interface Credential {
  /** The headers that authenticate the call. Throws `UpstreamFault` if there are none, or the signal's reason. */
  headers(call: OutgoingCall, signal?: AbortSignal): AtOnce<Readonly<Record<string, string>>>;
  /**
   * Told of an answer that refuses the call that was sent with these headers. True if the same call may succeed with other
   * ones, which are then asked for once.
   */
  refused(answer: Response, sent: Readonly<Record<string, string>>): boolean;
  /** Which one is used, without anything secret: `access keys of the environment`. Throws as `headers` does. */
  describe(): Promise<string>;
}

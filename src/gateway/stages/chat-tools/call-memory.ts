// What servers said to calls that clients approved, for a while: a client that sends its request again after a failure gets the same
// result, and the call is not made twice.

import type { Clock } from "../../../base/clock.ts";
import { untilAborted } from "../../../base/until-aborted.ts";
import type { McpSaid } from "./deps.ts";
import type { ApprovedCall } from "./mcp-history.ts";

const KEPT_MS = 10 * 60_000;
const CHARS_MAX = 8_000_000;

/** Keeps results by the account and the whole call. */
export class CallMemory {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #made = new Map<string, { readonly said: McpSaid; readonly untilMs: number; readonly chars: number }>();
  #chars = 0;
  /** Calls that are being made. */
  readonly #open = new Map<string, Promise<McpSaid>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The result of a call: the one that is kept, or what `make` gives. Failures are not kept. A request that is sent again while its
   * call is still being made waits for that one.
   */
  async once(
    accountId: string,
    { call }: Pick<ApprovedCall, "call">,
    { make, signal }: { make: () => Promise<McpSaid>; signal: AbortSignal },
  ): Promise<McpSaid> {
    const { approvalId, label, name, input } = call;
    const key = JSON.stringify([accountId, approvalId, label, name, input]);
    for (let open = this.#open.get(key); open !== undefined; open = this.#open.get(key)) {
      // The request that makes it may fail, or its client leave.
      await untilAborted(
        open.catch(() => undefined),
        signal,
      );
    }
    const kept = this.#made.get(key);
    if (kept !== undefined && kept.untilMs > this.#clock.now()) return kept.said;
    const open = make();
    this.#open.set(key, open);
    try {
      const said = await open;
      if (!said.isError) this.#keep(key, said);
      return said;
    } finally {
      this.#open.delete(key);
    }
  }

  #keep(key: string, said: McpSaid): void {
    this.#drop(key);
    const chars = key.length + said.text.length + (said.shown?.text.length ?? 0);
    this.#made.set(key, { said, untilMs: this.#clock.now() + KEPT_MS, chars });
    this.#chars += chars;
    for (const [oldest, { untilMs }] of this.#made) {
      if (this.#chars <= CHARS_MAX && untilMs > this.#clock.now()) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#chars -= this.#made.get(key)?.chars ?? 0;
    this.#made.delete(key);
  }
}

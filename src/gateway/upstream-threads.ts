// Conversations that an upstream holds (Anthropic's `thread`): which account's answer came from which provider, so that
// each continues where it began and no account continues with another's. Kept in memory: a client that is told that its
// thread is not known sends its history again, as it does when the upstream has forgotten it.

import { ApiError } from "../base/errors.ts";
import type { ModelRoute } from "../catalog/models.ts";
import type { Provider } from "../upstream/provider.ts";
import type { WireFormat } from "../wire/format.ts";

/** Answers that are remembered; a few dozen bytes each. */
const ANSWERS_MAX = 50_000;

/** The memory. */
export class UpstreamThreads {
  /** Answers' own ids to who got them and who gave them, oldest first. */
  readonly #answers = new Map<string, { accountId: string; provider: string }>();

  /** An answer that its account may continue from. */
  answered(id: string, by: { accountId: string; provider: string }): void {
    this.#answers.delete(id);
    this.#answers.set(id, by);
    if (this.#answers.size <= ANSWERS_MAX) return;
    const oldest = this.#answers.keys().next().value;
    if (oldest !== undefined) this.#answers.delete(oldest);
  }

  /** The provider that gave this account this answer. */
  providerOf(id: string, accountId: string): string | undefined {
    const found = this.#answers.get(id);
    return found?.accountId === accountId ? found.provider : undefined;
  }
}

/** True for providers that hold threads. */
export function holdsThreads(provider: Provider | undefined): boolean {
  return provider?.dialect.hasThreads === true && provider.quirks.threads !== false;
}

/** True when a provider's refusal says that it holds no thread for such a request. */
export function refusesThread(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { upstream, details } = error.detail;
  const said = (upstream?.details ?? details) as { error_code?: unknown } | null | undefined;
  if (said?.error_code === "thread_unsupported_request") return true;
  // Servers from before there were threads refuse the names of the parameter or the beta like any that they do not know.
  return error.body().type === "invalid_request_error" && UNKNOWN_THREAD.test(error.message);
}

const UNKNOWN_THREAD =
  /\bthread\b[^.]{0,40}\b(?:extra inputs|unknown|unrecognized|unexpected)|unexpected value.*\bmessage-threads-/is;

/** The client's headers without the beta that threads need, for a provider that is not sent one. */
export function withoutThreads(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { "anthropic-beta": betas, ...rest } = headers;
  const left = (betas ?? "").split(",").map((name) => name.trim());
  const known = left.filter((name) => name !== "" && !name.startsWith("message-threads-"));
  return known.length === 0 ? rest : { ...rest, "anthropic-beta": known.join(",") };
}

/** What a request says of the thread it belongs to. */
export interface ThreadRequest {
  /** The answer it continues from; undefined: a new thread. */
  previousId?: string;
}

/** Reads `thread` of a messages request; undefined where there is none. */
export function threadOf(format: WireFormat, body: Readonly<Record<string, unknown>>): ThreadRequest | undefined {
  const thread = format.hasThreads === true ? body["thread"] : undefined;
  if (typeof thread !== "object" || thread === null) return undefined;
  const previousId = "previous_message_id" in thread ? thread.previous_message_id : undefined;
  return typeof previousId === "string" ? { previousId } : {};
}

/**
 * The routes that can continue with a thread: those of the provider that holds it. Where no provider of the model has
 * threads all routes stay, for the refusal that says so. Throws 404 `thread_not_found`.
 */
export function routesOfThread(
  { previousId }: ThreadRequest,
  routes: readonly ModelRoute[],
  deps: { threads: UpstreamThreads; provider(name: string): Provider | undefined; accountId: string },
): readonly ModelRoute[] {
  const able = routes.filter(({ provider }) => holdsThreads(deps.provider(provider)));
  if (able.length === 0) return routes;
  if (previousId === undefined) return able;
  const holder = deps.threads.providerOf(previousId, deps.accountId);
  const left = routes.filter(({ provider }) => provider === holder);
  if (left.length > 0) return left;
  throw new ApiError("thread_not_found", `There is no answer '${previousId.slice(0, 100)}' to go on from.`, {
    param: "thread.previous_message_id",
    // Anthropic's own shape: its SDKs send the whole history when they read it.
    details: { error_code: "thread_not_found" },
  });
}

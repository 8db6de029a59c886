// Conversations that an upstream holds (Anthropic's `thread`): remembers which provider gave which answer to which account, so
// that each conversation continues at its provider and no account continues another's. The memory is lost with the process. A
// client then learns that its thread is unknown and sends its history again, as it does if the upstream has forgotten the thread.

import { ApiError } from "../../../base/errors.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import { headOfMessage } from "../../../upstream/fault-words.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { WireFormat } from "../../../wire/format.ts";

/** Maximum number of answers that are remembered; each takes a few dozen bytes. */
const ANSWERS_MAX = 50_000;

/** Remembers the answers of conversations that upstreams hold. */
export class UpstreamThreads {
  /** The account and provider of answers, by the answer's id, oldest first. */
  readonly #answers = new Map<string, { accountId: string; provider: string }>();

  /** Records an answer from which its account may continue. */
  answered(id: string, by: { accountId: string; provider: string }): void {
    this.#answers.delete(id);
    this.#answers.set(id, by);
    if (this.#answers.size <= ANSWERS_MAX) return;
    const oldest = this.#answers.keys().next().value;
    if (oldest !== undefined) this.#answers.delete(oldest);
  }

  /** The provider that gave this account's answer. */
  providerOf(id: string, accountId: string): string | undefined {
    const found = this.#answers.get(id);
    return found?.accountId === accountId ? found.provider : undefined;
  }
}

/** Whether a provider holds threads. */
export function supportsThreads(provider: Provider | undefined): boolean {
  return provider?.dialect.hasThreads === true && provider.quirks.threads !== false;
}

/** Whether a provider's refusal means that it does not hold threads for such a request. */
export function refusesThread(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { upstream, details } = error.detail;
  const reported = (upstream?.details ?? details) as { error_code?: unknown } | null | undefined;
  if (reported?.error_code === "thread_unsupported_request") return true;
  // Servers that are older than threads refuse the parameter or the beta as an unknown name.
  return error.body().type === "invalid_request_error" && UNKNOWN_THREAD.test(headOfMessage(error.message));
}

const UNKNOWN_THREAD =
  /\bthread\b[^.]{0,40}\b(?:extra inputs|unknown|unrecognized|unexpected)|unexpected value.*\bmessage-threads-/is;

/** The client's headers without the beta for threads, for a provider to which no thread is sent. */
export function withoutThreads(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { "anthropic-beta": betas, ...rest } = headers;
  const betaNames = (betas ?? "").split(",").map((name) => name.trim());
  const known = betaNames.filter((name) => name !== "" && !name.startsWith("message-threads-"));
  return known.length === 0 ? rest : { ...rest, "anthropic-beta": known.join(",") };
}

/** The thread of a request. */
export interface ThreadRequest {
  /** The answer from which to continue; undefined for a new thread. */
  previousId?: string;
}

/** Reads `thread` of a messages request; undefined if there is none. */
export function threadOf(format: WireFormat, body: Readonly<Record<string, unknown>>): ThreadRequest | undefined {
  const thread = format.hasThreads === true ? body["thread"] : undefined;
  if (typeof thread !== "object" || thread === null) return undefined;
  const previousId = "previous_message_id" in thread ? thread.previous_message_id : undefined;
  return typeof previousId === "string" ? { previousId } : {};
}

/**
 * The routes on which a thread can continue: those of the provider that holds it. A new thread tries providers with threads first;
 * the others follow if the gateway holds threads (`held`). If no provider of the model has threads, all routes stay, and the
 * parameter is refused later. Throws 404 `thread_not_found`.
 */
export function routesOfThread(
  { previousId }: ThreadRequest,
  routes: readonly ModelRoute[],
  deps: { threads: UpstreamThreads; provider(name: string): Provider | undefined; accountId: string; held: boolean },
): readonly ModelRoute[] {
  const isAble = ({ provider }: ModelRoute) => supportsThreads(deps.provider(provider));
  const able = routes.filter(isAble);
  if (able.length === 0) return routes;
  if (previousId === undefined) {
    if (!deps.held || able.length === routes.length) return able;
    const last = Math.max(...able.map(({ priority }) => priority));
    const first = Math.min(...routes.map(({ priority }) => priority));
    const later = (route: ModelRoute) => ({ ...route, priority: last + 1 + route.priority - first });
    return [...able, ...routes.filter((route) => !isAble(route)).map(later)];
  }
  const holder = deps.threads.providerOf(previousId, deps.accountId);
  const holderRoutes = routes.filter(({ provider }) => provider === holder);
  if (holderRoutes.length > 0) return holderRoutes;
  throw new ApiError("thread_not_found", `There is no answer '${previousId.slice(0, 100)}' to continue from.`, {
    param: "thread.previous_message_id",
    // The code of Anthropic's own error, after which its SDKs send the whole history.
    details: { error_code: "thread_not_found" },
  });
}

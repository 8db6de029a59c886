// Tells a provider which of the gateway's users a request is from, so that it can act against one user instead of the operator's
// whole organisation. Sources: developers.openai.com/api/docs/guides/safety-checks, platform.claude.com/docs/en/api/messages
// (metadata.user_id).

import type { Quirks } from "../vendors/quirks.ts";
import type { RequestContext } from "./dialect.ts";

/** Who counts as an end user: every account, every API key, or nobody. */
export type EndUserScope = "off" | "key" | "account";

/** The scope of a provider. `auto`: accounts, where the vendor acts against end users that it can tell apart. */
export function endUserScope(configured: EndUserScope | "auto", quirks: Quirks): EndUserScope {
  if (configured !== "auto") return configured;
  return quirks.safety_identifier === true ? "account" : "off";
}

/** The members of OpenAI's requests that name an end user, the newest first. */
const NONE: Record<string, string> = Object.freeze({});
const NONE_REFUSED: readonly string[] = [];
const OPENAI_NAMES = ["safety_identifier", "user"] as const;

/** The member that names the end user of an OpenAI request whose body names none, if the provider does not refuse it. */
export function openaiEndUser(
  body: Readonly<Record<string, unknown>>,
  { endUser, quirks }: { readonly endUser?: string | undefined; readonly quirks: Quirks },
  refused: readonly string[] = NONE_REFUSED,
): Record<string, string> {
  return endUser === undefined ? NONE : namedEndUser(body, endUser, { quirks, refused });
}

function namedEndUser(
  body: Readonly<Record<string, unknown>>,
  endUser: string,
  { quirks, refused }: { readonly quirks: Quirks; readonly refused: readonly string[] },
): Record<string, string> {
  if (OPENAI_NAMES.some((name) => isGiven(body[name]))) return {};
  const name = quirks.safety_identifier === true ? "safety_identifier" : "user";
  return refused.includes(name) ? {} : { [name]: endUser };
}

/** The metadata that names the end user of an Anthropic request with such metadata; undefined if there is nothing to add. */
export function anthropicEndUser(
  metadata: Readonly<Record<string, unknown>>,
  { endUser }: Pick<RequestContext, "endUser">,
): Record<string, unknown> | undefined {
  return endUser === undefined || isGiven(metadata["user_id"]) ? undefined : { ...metadata, user_id: endUser };
}

/** Whether the client named an end user. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

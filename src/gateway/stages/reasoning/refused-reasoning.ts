// Recognises when a provider refuses a request because of its reasoning, so that the request can be repeated without it. The
// issuer of a sealed value is not always known: not after a restart, and not if the keys of one provider belong to several
// organisations.

import type { ModelRoute } from "../../../catalog/models.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import { headOfMessage } from "../../../upstream/fault-words.ts";
import type { FailedCall } from "../../centre/stage.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";

/** Error codes of servers that cannot read a seal. */
const CODES: ReadonlySet<unknown> = new Set(["invalid_encrypted_content", "thinking_signature_invalid"]);

/**
 * Error texts with the same meaning, without quotes around names: OpenAI (openai/codex#8145; items that it does not store; items
 * without what followed them, openai/openai-agents-js#326, which a client does not have if the gateway's own calls stood there),
 * Anthropic (openclaw/openclaw#84430; changed thinking), Google (google-gemini/gemini-cli#13467, decolua/9router#301).
 */
const WORDS =
  /encrypted content .*could not be (?:verified|decrypted|parsed)|of type reasoning was provided without its required following item|item with id rs_\S* not found|invalid (?:signature|data) in (?:redacted_)?thinking block|thinking blocks? .*cannot be modified|(?:corrupted|invalid) thought[ _]signature|thought[ _]signature is not valid/i;

/**
 * Error texts about a request for encrypted reasoning. `include` only counts as the name of a parameter, since many errors use it
 * as a verb.
 */
const SEALLESS =
  /encrypted content is not supported|\b(?:parameter|field|argument|key|property|input)s?\W{1,4}include\b|^\W?include\b(?:\[\d+\])?\W/i;

/**
 * Learns from a failed call which reasoning the route refuses; false if the failure has another cause. `refused`: the routes that
 * refused the request's reasoning.
 */
export function learnsRefusal(
  { error, route, provider, built }: FailedCall,
  refused: Set<ModelRoute>,
  memory: ReasoningMemory,
): boolean {
  if (!(error instanceof UpstreamFault) || error.kind !== "bad_request") return false;
  if (built.hidesEncrypted === true && refusesToSeal(error)) memory.refusedToSeal(provider.minter, route.model);
  else if (!refused.has(route) && refusesReasoning(error)) refused.add(route);
  else return false;
  return true;
}

/** Whether a provider refused the reasoning in a history. */
export function refusesReasoning({ kind, message, said }: UpstreamFault): boolean {
  return kind === "bad_request" && (CODES.has(said.code) || WORDS.test(headOfMessage(message).replace(/[`'"]/g, "")));
}

/** Whether the model has no encrypted reasoning, or the server does not know the parameter. */
function refusesToSeal({ message, said }: UpstreamFault): boolean {
  return said.param?.startsWith("include") === true || SEALLESS.test(headOfMessage(message));
}

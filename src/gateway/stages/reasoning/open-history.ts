// Builds the history of a request for one provider. Reasoning that was sealed for that provider is included, other sealed
// reasoning is not.

import type { Clock } from "../../../base/clock.ts";
import { editJson, editValue } from "../../../base/json-edit.ts";
import { type BodyText, stringOf } from "../../../base/long-json.ts";
import type { ChatMessage } from "../../../chat/request.ts";
import type { HistoryReader } from "../../../chat/seals.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { factsOf } from "../../../vendors/model-facts.ts";
import type { WireFormat } from "../../../wire/format.ts";
import { CallNames } from "./call-names.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";

/** A parsed JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/** A request in the provider's own format. */
export interface History {
  text: BodyText;
  body: Fields;
  /** The members that were changed and replace those of the text. */
  members: Fields;
}

/** Creates the reader of a history. */
export function historyReader(
  provider: Provider,
  model: string,
  given: {
    reasoning: ReasoningMemory;
    clock: Clock;
    accountId: string;
    messages: readonly ChatMessage[];
    refused?: boolean;
  },
): HistoryReader {
  const { reasoning: memory, clock, accountId, refused = false } = given;
  const names = new CallNames(given.messages);
  const { minter, quirks, dialect } = provider;
  return {
    protocol: dialect.name,
    minter,
    refused,
    plain: quirks.plain_reasoning !== false,
    // A model that signs all of its reasoning refuses unsigned reasoning, whichever provider serves it.
    unsigned: memory.gaveUnsigned(minter) && provider.card.signsThinking !== true && !factsOf(model).signsThinking,
    minterOf: (value) => memory.minterOf(value),
    refusesReasoning: quirks.refuses_reasoning === true,
    needsReasoning: quirks.return_reasoning_content === true,
    // The names may depend on the whole conversation, and most accounts have nothing that is looked for.
    thoughtOf: (callId) =>
      memory.calls.has(accountId) ? memory.calls.find(accountId, names.made(callId), clock.now()) : undefined,
  };
}

/** Opens the seals in a request. `removed`: whether some reasoning was left out; `lost`: also its text, which was not sealed. */
export function openHistory(
  history: History,
  format: WireFormat,
  reader: HistoryReader,
): History & { removed: boolean; lost: boolean } {
  const { text, body, members } = history;
  const key = format.turns;
  const ours = Object.hasOwn(members, key);
  const opened = format.openSeals?.(ours ? { ...body, [key]: members[key] } : body, reader);
  if (opened === undefined || opened.edits.length === 0) return { ...history, removed: false, lost: false };
  const { edits, removed, lost = false } = opened;
  if (ours) return { text, body, members: { ...members, ...editValue({ [key]: members[key] }, edits) }, removed, lost };
  return { text: editJson(stringOf(text), edits), body: editValue(body, edits), members, removed, lost };
}

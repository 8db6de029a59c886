// What happens to the parameters of a translated request. Each dialect has one table that states for every neutral parameter how
// its protocol writes it. One loop writes what the tables say, so that a parameter cannot be called supported and not be sent.
// Unsupported ones are reported as dropped, so that nothing is lost silently. The names in reports are those of chat completions,
// and the caller maps them to the client's.

import { type Parameter, parameterName, reasoningName } from "../chat/parameters.ts";
import type { ChatRequest, ReasoningOptions } from "../chat/request.ts";
import { isTextOnly } from "./output-kinds.ts";

/** Members of the body that is written. A member that is undefined is left out. */
export type Members = Readonly<Record<string, unknown>>;

/** What a dialect's functions know of the request that they write. */
export interface Writing {
  readonly chat: ChatRequest;
  /** The names of what is not sent. A function adds the name of a parameter that it does not write. */
  readonly dropped: Set<string>;
}

/**
 * How a protocol writes a value: under this name, by a function that returns the members to set, or not at all. With false, the
 * value is reported as dropped.
 */
type Way<Value, At> = string | ((value: Value, at: At) => Members | undefined) | false;

/** The table of one dialect. */
export interface ParameterTable<At extends Writing> {
  readonly parameters: { readonly [Name in Parameter]: Way<NonNullable<ChatRequest[Name]>, At> };
  /**
   * The same for the members of `reasoning`. A function that writes several of them states them all as its parameter, and is called
   * once.
   */
  readonly reasoning: { readonly [Name in keyof ReasoningOptions]-?: Way<Pick<ReasoningOptions, Name>, At> };
  /** Members without a neutral form that have the same meaning in this protocol, whichever client format they come from. */
  readonly carries: ReadonlySet<string>;
}

/** Writes the parameters of requests by the table of a dialect. */
export interface ParameterWriter<At extends Writing> {
  /** Sets the parameters in `body`. Those in `refused`, by their names in reports, are dropped. */
  parameters(body: Record<string, unknown>, at: At, refused?: readonly string[]): void;
  /** Sets the members of `reasoning` in `body`. */
  reasoning(body: Record<string, unknown>, at: At): void;
  /** The members of `extra` that are sent unchanged. Others are dropped. Values without effect are not reported. */
  carried(at: At): Record<string, unknown>;
}

/** Prepares a table once, at start. */
export function parameterWriter<At extends Writing>(table: ParameterTable<At>): ParameterWriter<At> {
  const parameters = Object.entries(table.parameters).map(([key, way]) => ({
    key: key as Parameter,
    name: parameterName(key),
    way: way as Way<unknown, At>,
  }));
  const reasoning = reasoningSteps(table.reasoning);
  return {
    parameters(body, at, refused = []) {
      for (const { key, name, way } of parameters) {
        const value = at.chat[key];
        if (value === undefined || value === null) continue;
        if (way !== false && !refused.includes(name)) write(body, value, way, at);
        else if (asks(key, at.chat)) at.dropped.add(name);
      }
    },
    reasoning(body, at) {
      const wanted = at.chat.reasoning;
      if (wanted === undefined) return;
      for (const { keys, name, way } of reasoning) {
        const key = keys.find((one) => wanted[one] !== undefined);
        if (key === undefined) continue;
        if (way === false) {
          if (!isWithoutEffect(wanted[key])) at.dropped.add(name);
        } else write(body, typeof way === "string" ? wanted[key] : wanted, way, at);
      }
    },
    carried({ chat, dropped }) {
      const carried: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(chat.extra)) {
        if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
        if (table.carries.has(name)) carried[name] = value;
        else dropped.add(name);
      }
      return carried;
    },
  };
}

/**
 * Removes the members that the provider refuses, and reports them. `silent` lists those that the gateway sets itself, and `kept`
 * those that no provider can refuse.
 */
export function removeRefused(
  body: Record<string, unknown>,
  refused: readonly string[],
  dropped: Set<string>,
  { silent = [], kept = [] }: { silent?: readonly string[]; kept?: readonly string[] } = {},
): void {
  for (const name of refused) {
    if (body[name] === undefined || kept.includes(name)) continue;
    delete body[name];
    if (!silent.includes(name)) dropped.add(name);
  }
}

function write<At>(
  body: Record<string, unknown>,
  value: unknown,
  way: string | ((value: unknown, at: At) => Members | undefined),
  at: At,
): void {
  if (typeof way === "string") {
    body[way] = value;
    return;
  }
  const members = way(value, at);
  for (const name in members) if (members[name] !== undefined) body[name] = members[name];
}

interface ReasoningStep<At> {
  /** The members that it writes; several for a function that stands at several of them. */
  readonly keys: (keyof ReasoningOptions)[];
  readonly name: string;
  readonly way: Way<unknown, At>;
}

function reasoningSteps<At extends Writing>(table: ParameterTable<At>["reasoning"]): ReasoningStep<At>[] {
  const steps: ReasoningStep<At>[] = [];
  for (const [name, entry] of Object.entries(table)) {
    const key = name as keyof ReasoningOptions;
    const way = entry as Way<unknown, At>;
    const same = typeof way === "function" ? steps.find((step) => step.way === way) : undefined;
    if (same === undefined) steps.push({ keys: [key], name: reasoningName(name), way });
    else same.keys.push(key);
  }
  return steps;
}

/** Whether a parameter that is dropped would have had an effect. */
function asks(parameter: Parameter, chat: ChatRequest): boolean {
  switch (parameter) {
    case "n":
      return (chat.n ?? 1) > 1;
    case "parallelToolCalls":
      return chat.parallelToolCalls === false && chat.tools.length > 0;
    case "modalities":
      return !isTextOnly(chat.modalities ?? []);
    // The protocols have no value without effect for these.
    case "seed":
    case "topK":
    case "temperature":
    case "topP":
      return chat[parameter] !== undefined;
    default:
      return !isWithoutEffect(chat[parameter]);
  }
}

/** Whether a value changes nothing: an empty list, a penalty of 0, a feature that is turned off. */
function isWithoutEffect(value: unknown): boolean {
  if (value === undefined || value === null || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

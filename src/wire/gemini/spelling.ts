// Google's API takes the names of members in two spellings, `systemInstruction` and `system_instruction`. Requests are read with the
// first; one with the second is rewritten.

import { isRecord } from "../../base/json-object.ts";
import type { Fields } from "../check.ts";

/** The objects whose members have names of the protocol, by the names of their members. `null`: no object of the protocol. */
interface Names {
  readonly [name: string]: Names;
}

const NONE: Names = {};
const PART: Names = {
  inlineData: NONE,
  fileData: NONE,
  functionCall: NONE,
  functionResponse: { parts: { inlineData: NONE, fileData: NONE } },
  executableCode: NONE,
  codeExecutionResult: NONE,
  videoMetadata: NONE,
};
const CONTENT: Names = { parts: PART };
const BODY: Names = {
  contents: CONTENT,
  systemInstruction: CONTENT,
  tools: { functionDeclarations: NONE },
  toolConfig: { functionCallingConfig: NONE, retrievalConfig: NONE },
  generationConfig: { thinkingConfig: NONE, imageConfig: NONE, speechConfig: NONE },
  safetySettings: NONE,
};

/** Members of the gateway, which have one spelling. */
const OWN: ReadonlySet<string> = new Set(["thread_id", "conversation_id"]);

/** The body with the names as they are read; the same body if it has them already. */
export function usualNames(body: Fields): Fields {
  return respelled(body, BODY);
}

function respelled<T extends Fields>(value: T, names: Names): T {
  let out: Record<string, unknown> | undefined;
  for (const name in value) {
    const own = name.includes("_") && !OWN.has(name) ? usual(name) : name;
    const given = value[name];
    const inner = Object.hasOwn(names, own) ? withinOf(given, names[own]!) : given;
    if (own === name && inner === given) continue;
    out ??= { ...value };
    if (own !== name) delete out[name];
    // Of two spellings, the first counts.
    if (own === name || out[own] === undefined) out[own] = inner;
  }
  return (out as T | undefined) ?? value;
}

function withinOf(value: unknown, names: Names): unknown {
  if (!Array.isArray(value)) return isRecord(value) ? respelled(value, names) : value;
  let out: unknown[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const element: unknown = value[i];
    const read = isRecord(element) ? respelled(element, names) : element;
    if (read === element) continue;
    out ??= [...(value as unknown[])];
    out[i] = read;
  }
  return out ?? value;
}

function usual(name: string): string {
  return name.replace(/(?<=.)_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

// Reads requests of the legacy completions format. Token arrays as prompts, and suffixes, are refused, since chat models do not
// support them.

import type { ChatRequest } from "../../chat/request.ts";
import * as check from "../check.ts";
import type { DecodeOptions } from "../format.ts";
import { wantsCost, wantsUsage } from "../usage-wish.ts";
import { COMPLETIONS_FIELDS } from "./fields.ts";

/** Reads the body of `POST /v1/completions`, with one prompt. */
export function decodeCompletions(body: check.Fields, headers: DecodeOptions = {}): ChatRequest {
  const prompt = promptOf(body);
  if ((check.maybe(body, "suffix", check.expectString) ?? "") !== "") {
    check.reject("suffix", "Invalid 'suffix': filling in the middle of a text is not supported. Leave it out.");
  }
  check.maybe(body, "echo", check.expectBoolean);
  return {
    model: check.need(body, "model", check.expectText),
    messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
    stream: check.maybe(body, "stream", check.expectBoolean) ?? false,
    includeUsage: wantsUsage(body, headers),
    ...check.given({ includeCost: wantsCost(body) }),
    tools: [],
    ...COMPLETIONS_FIELDS.read(body),
    extra: check.remaining(body, COMPLETIONS_FIELDS.known),
  };
}

/** The prompt, given as a string or as a list with one string. */
export function promptOf(body: check.Fields): string {
  const prompt = body["prompt"];
  if (!Array.isArray(prompt)) return expectPrompt(prompt, "prompt");
  const [first, ...others] = check.expectListOf(expectPrompt)(prompt, "prompt");
  if (first === undefined) return check.reject("prompt", "Invalid 'prompt': must not be empty.");
  if (others.length > 0) check.reject("prompt", "Invalid 'prompt': only one prompt is allowed.");
  return first;
}

const expectPrompt: check.Check<string> = (value, path) => {
  if (typeof value === "number" || Array.isArray(value)) {
    check.reject(path, `Invalid '${path}': token arrays are not supported; send text.`);
  }
  return check.expectText(value, path);
};

/** The prompts of a body with several; undefined for a body with one prompt. */
export function severalPrompts(body: check.Fields): readonly unknown[] | undefined {
  const prompt = body["prompt"];
  return Array.isArray(prompt) && prompt.length > 1 ? prompt : undefined;
}

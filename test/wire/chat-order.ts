// An independent reader of the chat completions stream: checks the protocol's order and assembles the choices of the whole
// answer as a client would.

import type { Json, Sent } from "./support.ts";

interface Choice {
  message: Json;
  calls: { head: Json; text: string }[];
  content: unknown[];
  refusal: unknown[];
  finish: unknown;
}

/** The choices that a client ends up with. Throws on the first frame that is out of order. */
export function gatherChat(frames: readonly Sent[]): Json[] {
  const choices = new Map<number, Choice>();
  frames.forEach(({ data }, i) => {
    const check = (holds: boolean, what: string) => {
      if (!holds) throw new Error(`frame ${i}: ${what}`);
    };
    for (const one of data["choices"] as Json[]) {
      const index = one["index"] as number;
      const delta = one["delta"] as Json;
      let choice = choices.get(index);
      if (choice === undefined) {
        check(delta["role"] === "assistant", "a choice opens without its role");
        choice = {
          message: { role: "assistant", content: null, refusal: null },
          calls: [],
          content: [],
          refusal: [],
          finish: null,
        };
        choices.set(index, choice);
      } else check(!("role" in delta), "the role comes twice");
      check(choice.finish === null, "comes after the finish");
      take(choice, delta, check);
      const logprobs = one["logprobs"] as { content?: unknown[]; refusal?: unknown[] } | null;
      choice.content.push(...(logprobs?.content ?? []));
      choice.refusal.push(...(logprobs?.refusal ?? []));
      choice.finish = one["finish_reason"];
    }
  });
  return [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => whole(index, choice));
}

function take(choice: Choice, delta: Json, check: (holds: boolean, what: string) => void): void {
  for (const key of ["content", "refusal", "reasoning_content"]) {
    if (typeof delta[key] !== "string" || (key === "content" && delta[key] === "")) continue;
    choice.message[key] = `${choice.message[key] ?? ""}${delta[key]}`;
  }
  for (const name of ["annotations", "images"]) {
    if (delta[name] === undefined) continue;
    choice.message[name] = [...((choice.message[name] as unknown[]) ?? []), ...(delta[name] as unknown[])];
  }
  for (const call of (delta["tool_calls"] ?? []) as Json[]) {
    const index = call["index"] as number;
    const known = choice.calls[index];
    const inner = (call["custom"] ?? call["function"] ?? {}) as Json;
    const text = String(inner["input"] ?? inner["arguments"] ?? "");
    if (known === undefined) {
      check(index === choice.calls.length, `call ${index} comes out of order`);
      check(typeof call["id"] === "string", "a call opens without an id");
      choice.calls.push({ head: call, text });
    } else {
      check(String(known.head["type"]) in call, "a fragment is of another kind than its call");
      known.text += text;
    }
  }
}

function whole(index: number, { message, calls, content, refusal, finish }: Choice): Json {
  if (calls.length > 0) {
    message["tool_calls"] = calls.map(({ head, text }) => {
      const { id, type } = head;
      const { name } = head[String(type)] as Json;
      return type === "custom"
        ? { id, type, custom: { name, input: text } }
        : { id, type, function: { name, arguments: text } };
    });
  }
  if (message["content"] === null && calls.length === 0 && message["refusal"] === null) message["content"] = "";
  const filled = (tokens: unknown[]) => (tokens.length > 0 ? tokens : null);
  const logprobs = content.length + refusal.length > 0 ? { content: filled(content), refusal: filled(refusal) } : null;
  return { index, message, logprobs, finish_reason: finish };
}

// New input for a running answer. Upstreams are asked over HTTP, which takes no more input, so the answer is stopped where it
// stands, and another one is asked for, which continues from it with the new input.

import { ApiError } from "../../../base/errors.ts";
import { entryOf, isRecord } from "../../../base/json-object.ts";
import type { Usage } from "../../../chat/event.ts";
import { inputItems } from "../../../wire/responses/references.ts";
import { usageOfResponse } from "../../../wire/responses/shape.ts";
import { type AnswerFrame, recordIn } from "./answer-frames.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Reads the message of a client, or says what is wrong with it. */
export function readSteer(body: Fields): { readonly target: string; readonly input: readonly unknown[] } | ApiError {
  const { previous_response_id: target, input } = body;
  if (typeof target !== "string") return invalid("previous_response_id", "expected the id of a running response");
  if (typeof input !== "string" && !Array.isArray(input)) {
    return invalid("input", "expected a text or a list of messages");
  }
  if (input.length === 0) return invalid("input", "expected at least one message");
  const items = inputItems(body);
  const wrong = items.findIndex((item) => !isUserMessage(item));
  if (wrong >= 0) return invalid(`input[${wrong}]`, "expected a message of the role 'user'");
  return { target, input: items };
}

function isUserMessage(item: unknown): boolean {
  return isRecord(item) && (item["type"] ?? "message") === "message" && item["role"] === "user";
}

function invalid(param: string, expected: string): ApiError {
  return new ApiError("invalid_request", `Invalid '${param}': ${expected}.`, { param });
}

/** What the client adds for each kind of call that it runs itself: the type of the result, and the member that names the call. */
const RESULTS: Readonly<Record<string, readonly [type: string, member: string, from: string]>> = {
  function_call: ["function_call_output", "call_id", "call_id"],
  custom_tool_call: ["custom_tool_call_output", "call_id", "call_id"],
  computer_call: ["computer_call_output", "call_id", "call_id"],
  shell_call: ["shell_call_output", "call_id", "call_id"],
  local_shell_call: ["local_shell_call_output", "id", "id"],
  apply_patch_call: ["apply_patch_call_output", "call_id", "call_id"],
  mcp_approval_request: ["mcp_approval_response", "approval_request_id", "id"],
};

/** Keeps of a running answer what is needed to stop it. The events are read only when it is. */
export class RunningAnswer {
  #created: string | undefined;
  #id: string | undefined;
  #last = "";
  readonly #done: string[] = [];
  /** The events since the last item that ended. */
  #open: string[] = [];

  note({ type, text }: AnswerFrame): void {
    this.#last = text;
    if (type === "response.created") this.#created = text;
    else if (type === "response.output_item.done") {
      this.#done.push(text);
      this.#open = [];
    } else if (OPENING.has(type)) this.#open.push(text);
  }

  /** The id of the response; undefined before it is known. */
  get id(): string | undefined {
    if (this.#id === undefined && this.#created !== undefined) {
      const { id } = responseIn(this.#created);
      this.#id = typeof id === "string" ? id : undefined;
    }
    return this.#id;
  }

  /** The results that the client owes for calls in the answer so far. */
  owed(): Fields[] {
    const ended = new Set(this.#done.map((text) => itemIn(text)["id"]));
    return [...this.#done, ...this.#open].flatMap((text) => {
      const { type, item } = recordIn(text);
      if (!isRecord(item) || (type === "response.output_item.added" && ended.has(item["id"]))) return [];
      const result = entryOf(RESULTS, String(item["type"]));
      return result === undefined ? [] : [{ type: result[0], [result[1]]: item[result[2]] }];
    });
  }

  get nextSequence(): number {
    const { sequence_number: last } = recordIn(this.#last);
    return typeof last === "number" ? last + 1 : 0;
  }

  /** The events that end the answer here, and its items. Unfinished text is kept; what else is unfinished is left out. */
  stopped(used: Usage | undefined): { readonly frames: readonly Fields[]; readonly output: readonly Fields[] } {
    const frames: Fields[] = [];
    let sequence = this.nextSequence;
    const add = (type: string, fields: Fields) => void frames.push({ type, sequence_number: sequence++, ...fields });
    const output = this.#done.map(itemIn);
    for (const { index, item, parts } of openMessages(this.#open)) {
      const place = { item_id: item["id"], output_index: index };
      const content = [...parts].map(([at, text]) => {
        const part = { type: "output_text", text, annotations: [], logprobs: [] };
        add("response.output_text.done", { ...place, content_index: at, text, logprobs: [] });
        add("response.content_part.done", { ...place, content_index: at, part });
        return part;
      });
      const cutItem = { ...item, status: "incomplete", content };
      add("response.output_item.done", { output_index: index, item: cutItem });
      output.push(cutItem);
    }
    const response = {
      ...(this.#created === undefined ? {} : responseIn(this.#created)),
      ...{ status: "incomplete", incomplete_details: { reason: "steered" }, output },
      usage: used === undefined ? null : usageOfResponse(used),
    };
    add("response.incomplete", { response });
    return { frames, output };
  }
}

/** The events from which unfinished text is put together. */
const OPENING = new Set(["response.output_item.added", "response.content_part.added", "response.output_text.delta"]);

function responseIn(text: string): Fields {
  const { response } = recordIn(text);
  return isRecord(response) ? response : {};
}

function itemIn(text: string): Fields {
  const { item } = recordIn(text);
  return isRecord(item) ? item : {};
}

/** The unfinished messages, with the text of their parts. */
function openMessages(texts: readonly string[]) {
  const messages = new Map<unknown, { index: unknown; item: Fields; parts: Map<number, string> }>();
  for (const text of texts) {
    const event = recordIn(text);
    const { type, item, output_index: index, content_index: at, delta } = event;
    if (type === "response.output_item.added" && isRecord(item)) {
      if (item["type"] === "message") messages.set(index, { index, item, parts: new Map() });
    } else if (typeof at === "number") {
      const parts = messages.get(index)?.parts;
      parts?.set(at, (parts.get(at) ?? "") + (typeof delta === "string" ? delta : ""));
    }
  }
  return messages.values();
}

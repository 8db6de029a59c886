// A scripted extraction model on loopback. It reads the schema from the first message and the page from between the delimiters.
// It answers from lines such as `Price: 12.50`, or as the test defines.

import { say } from "../support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../support/upstream.ts";

/** One question as the model reads it. */
export interface Asked {
  readonly url: string;
  /** The text between the delimiters, without the line with the address. */
  readonly page: string;
  readonly system: string;
  readonly task: string;
  readonly fields: Readonly<Record<string, { readonly type?: string }>>;
  /** The messages to the model after its first answer. */
  readonly repairs: readonly string[];
  readonly json: Readonly<Record<string, unknown>>;
  readonly received: Received;
}

/** What the model answers: an object, which is sent as JSON, a text, which is sent as it is, or a complete response. */
export type Script = (asked: Asked) => unknown;

/** The model and the questions that it received. */
export interface ScriptedModel {
  readonly upstream: FakeUpstream;
  readonly asked: Asked[];
  script(next: Script): void;
  /** The paths of the pages in the questions, sorted. */
  paths(): string[];
}

/** Starts the model. */
export function startModel(script: Script = honest): ScriptedModel {
  let current = script;
  const asked: Asked[] = [];
  const upstream = startUpstream(async (received) => {
    const one = read(received);
    asked.push(one);
    const answer = await current(one);
    if (answer instanceof Response) return answer;
    return say(received, { text: typeof answer === "string" ? answer : JSON.stringify(answer) });
  });
  return {
    upstream,
    asked,
    script: (next) => {
      current = next;
    },
    paths: () => asked.map(({ url }) => new URL(url).pathname).sort(),
  };
}

interface Message {
  readonly role: string;
  readonly content: string | { readonly text: string }[];
}

function read(received: Received): Asked {
  const { json = {} } = received;
  const messages = (json["messages"] as Message[]).map(({ role, content }) => ({
    role,
    text: typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
  }));
  const system = messages.filter(({ role }) => role === "system").map(({ text }) => text);
  const [question, ...repairs] = messages.filter(({ role }) => role === "user").map(({ text }) => text);
  const mark = /<(page-[0-9A-Za-z]{20})>\n\[address: ("[^\n]*?")(?:, part[^\n]*)?\]\n([\s\S]*)\n<\/\1>/.exec(
    question ?? "",
  );
  if (mark === null) throw new Error(`no page in ${question}`);
  const schema = /JSON Schema of "value":\n(.*)/.exec(system.join("\n"))?.[1];
  const { properties = {} } = JSON.parse(schema ?? "{}") as { properties?: Asked["fields"] };
  return {
    url: JSON.parse(mark[2] ?? "") as string,
    page: mark[3] ?? "",
    system: system.join("\n"),
    task: /^Task: (.*)/.exec(question ?? "")?.[1] ?? "",
    fields: properties,
    repairs,
    json,
    received,
  };
}

/** Answers each field from the line that begins with the field's name, and quotes that line. */
export function honest({ page, fields }: Asked): { value: Record<string, unknown>; quotes: Record<string, unknown> } {
  const value: Record<string, unknown> = {};
  const quotes: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(fields)) {
    const all = [...page.matchAll(new RegExp(`^\\W*${name}: (.*)$`, "gim"))].map(([line, text = ""]) => ({
      line: line.trim(),
      text: text.trim(),
    }));
    const [first] = all;
    value[name] = first === undefined ? null : type === "array" ? all.map(({ text }) => text) : typed(first.text, type);
    if (first !== undefined) quotes[name] = type === "array" ? all.map(({ line }) => line) : first.line;
  }
  return { value, quotes };
}

function typed(text: string, type: string | undefined): unknown {
  if (type === "number" || type === "integer") return Number(text.replace(/[^\d.-]/g, ""));
  return type === "boolean" ? text === "yes" : text;
}

/** A configuration in which this is the only model. */
export function modelConfig(model: ScriptedModel, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    providers: { up: { kind: "openai", base_url: model.upstream.baseUrl, api_key: "k", discover: false, ...more } },
    models: [
      { id: "reader", routes: [{ provider: "up", model: "up-model" }], prices: { input: 1, output: 2 }, tier: "free" },
    ],
  };
}

/** A page that consists of these lines. */
export function linesPage(title: string, lines: readonly string[], more = ""): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>
    <p>This page tells a few facts in lines, and this sentence is here so that it is long enough to be a page.</p>
    ${lines.map((line) => `<p>${line}</p>`).join("\n")}${more}</main></body></html>`;
}

// A question of the playground as a command line, in each of the formats that the gateway speaks, and as a program.

import type { PlaygroundPrompt } from "./chat-stream.ts";

/** A format and the command for it. */
export interface RequestCode {
  readonly name: string;
  text(question: PlaygroundPrompt, parts: { base: string; key: string }): string;
}

/** Anthropic's format has no default of its own. */
const MAX_TOKENS = 4096;

/** The formats. */
export const REQUEST_CODES: readonly [RequestCode, ...RequestCode[]] = [
  {
    name: "Chat completions",
    text: ({ model, messages, ...limits }, { base, key }) =>
      curl(`${base}/v1/chat/completions`, [`Authorization: Bearer ${key}`], { model, messages, ...limits }),
  },
  {
    name: "Responses",
    text: ({ model, messages, max_tokens, temperature }, { base, key }) => {
      const instructions = messages.find(({ role }) => role === "system")?.content;
      const input = messages.filter(({ role }) => role !== "system");
      const body = { model, instructions, input, max_output_tokens: max_tokens, temperature };
      return curl(`${base}/v1/responses`, [`Authorization: Bearer ${key}`], body);
    },
  },
  {
    name: "Messages",
    text: (question, { base, key }) => {
      const headers = [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"];
      return curl(`${base}/v1/messages`, headers, messagesBody(question));
    },
  },
  {
    name: "Python",
    text: (question, { base, key }) => `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.chat.completions.create(**${json(question)})
print(answer.choices[0].message.content)`,
  },
  {
    name: "JavaScript",
    text: (question, { base, key }) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create(${json(question)});
const { content } = answer.choices[0].message;`,
  },
  {
    name: "Python (Anthropic)",
    text: (question, { base, key }) => `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
answer = client.messages.create(**${json(messagesBody(question))})
print(answer.content[0].text)`,
  },
];

/** Texts and numbers alone are written alike in JSON, Python and JavaScript. */
function json(body: unknown): string {
  return JSON.stringify(body, null, 2);
}

function messagesBody({
  model,
  messages,
  max_tokens = MAX_TOKENS,
  temperature,
}: PlaygroundPrompt): Record<string, unknown> {
  const system = messages.find(({ role }) => role === "system")?.content;
  const turns = messages.filter(({ role }) => role !== "system");
  return { model, max_tokens, system, messages: turns, temperature };
}

/** A request of a web tool. */
interface WebRequest {
  readonly path: string;
  readonly body: unknown;
}

/** A web tool's request as a program. */
interface WebCode {
  readonly name: string;
  text(request: WebRequest, parts: { base: string; key: string }): string;
}

/** The languages. */
export const WEB_CODES: readonly [WebCode, ...WebCode[]] = [
  { name: "curl", text: ({ path, body }, { base, key }) => curl(base + path, [`Authorization: Bearer ${key}`], body) },
  {
    name: "Python",
    text: ({ path, body }, { base, key }) => `import requests

answer = requests.post(
    "${base}${path}",
    headers={"Authorization": "Bearer ${key}"},
    json=${python(body)},
)
print(answer.json())`,
  },
  {
    name: "JavaScript",
    text: ({ path, body }, { base, key }) => `const answer = await fetch("${base}${path}", {
  method: "POST",
  headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json" },
  body: JSON.stringify(${json(body)}),
});
const result = await answer.json();`,
  },
];

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** A value of JSON as Python writes it. */
function python(value: unknown): string {
  // Texts are passed over whole, whatever words they hold.
  return json(value).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => PYTHON_WORDS[word] ?? word);
}

function curl(url: string, headers: readonly string[], body: unknown): string {
  const lines = [...headers, "Content-Type: application/json"].map((header) => `-H "${header}"`);
  // A quote within single quotes of a shell: end them, one in double quotes, begin again.
  const data = json(body).replaceAll("'", `'"'"'`);
  return [`curl ${url}`, ...lines, `-d '${data}'`].join(" \\\n  ");
}

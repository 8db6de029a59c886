// Shows a request of the playground as a command line in each client format, and as a program.

import type { Settings } from "./chat/conversation.ts";

type Json = Readonly<Record<string, unknown>>;

/** A format and the command for it. */
export interface RequestCode {
  readonly name: string;
  /** The format of the body. */
  readonly format: Settings["format"];
  text(body: Json, parts: { base: string; key: string }): string;
}

/** The formats. */
export const REQUEST_CODES: readonly [RequestCode, ...RequestCode[]] = [
  {
    name: "Chat completions",
    format: "chat",
    text: (body, { base, key }) => curl(`${base}/v1/chat/completions`, [`Authorization: Bearer ${key}`], body),
  },
  {
    name: "Responses",
    format: "responses",
    text: (body, { base, key }) => curl(`${base}/v1/responses`, [`Authorization: Bearer ${key}`], body),
  },
  {
    name: "Messages",
    format: "messages",
    text: (body, { base, key }) =>
      curl(`${base}/v1/messages`, [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"], body),
  },
  {
    name: "Python",
    format: "chat",
    text: (body, { base, key }) => `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.chat.completions.create(**${python(withExtra(body))})
print(answer.choices[0].message.content)`,
  },
  {
    name: "JavaScript",
    format: "chat",
    text: (body, { base, key }) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create(${json(body)});
const { content } = answer.choices[0].message;`,
  },
  {
    name: "Python (Anthropic)",
    format: "messages",
    text: (body, { base, key }) => `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
answer = client.messages.create(**${python(withExtra(body))})
print(answer.content[0].text)`,
  },
];

/** `thread_id` is an extension of this gateway, which the SDK sends only within `extra_body`. */
function withExtra({ thread_id, ...body }: Json): Json {
  return thread_id === undefined ? body : { ...body, extra_body: { thread_id } };
}

/** Longer runs of base64 are pictures, which nobody reads, so they are shortened. */
const LONG_BASE64 = /^(data:[^,]{1,40},)?[A-Za-z0-9+/=]{400,}$/;

/** JSON without unquoted keys is valid in JavaScript too. */
function json(body: unknown): string {
  return JSON.stringify(
    body,
    (_, value: unknown) => (typeof value === "string" && LONG_BASE64.test(value) ? `${value.slice(0, 40)}…` : value),
    2,
  );
}

/** A request of a web tool. */
interface WebRequest {
  readonly path: string;
  readonly body: unknown;
}

/** The code of a web tool's request. */
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

/** A JSON value in Python's syntax. */
function python(value: unknown): string {
  // Strings are matched as a whole, so that words within them stay unchanged.
  return json(value).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => PYTHON_WORDS[word] ?? word);
}

function curl(url: string, headers: readonly string[], body: unknown): string {
  const lines = [...headers, "Content-Type: application/json"].map((header) => `-H "${header}"`);
  // To quote a single quote in a shell: end the quoted text, add the quote in double quotes, and start again.
  const data = json(body).replaceAll("'", `'"'"'`);
  return [`curl ${url}`, ...lines, `-d '${data}'`].join(" \\\n  ");
}

// A question of the playground as a command line, in each of the formats that the gateway speaks.
import type { Question } from "./chat-stream.ts";

/** A format and the command for it. */
export interface RequestCode {
  readonly name: string;
  text(question: Question, parts: { base: string; key: string }): string;
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
    text: ({ model, messages, max_tokens = MAX_TOKENS, temperature }, { base, key }) => {
      const system = messages.find(({ role }) => role === "system")?.content;
      const turns = messages.filter(({ role }) => role !== "system");
      const headers = [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"];
      return curl(`${base}/v1/messages`, headers, { model, max_tokens, system, messages: turns, temperature });
    },
  },
];

function curl(url: string, headers: readonly string[], body: unknown): string {
  const lines = [...headers, "Content-Type: application/json"].map((header) => `-H "${header}"`);
  // A quote within single quotes of a shell: end them, one in double quotes, begin anew.
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'"'"'`);
  return [`curl ${url}`, ...lines, `-d '${json}'`].join(" \\\n  ");
}

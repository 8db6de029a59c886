// Reads a streamed chat completion as it comes: text, reasoning, what it used, how long it took.

import { Refused, refusalOf, send } from "./api.ts";

/** What the playground asks. */
export interface PlaygroundPrompt {
  readonly model: string;
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/** What has come of an answer so far. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly finish: string | undefined;
  /** Until the first text, and in all. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
}

const NOTHING: Answer = {
  text: "",
  reasoning: "",
  inputTokens: undefined,
  outputTokens: undefined,
  finish: undefined,
  firstMs: undefined,
  totalMs: undefined,
};

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: { readonly message: string; readonly code: string };
}

/** The body that is sent for a question. */
export function bodyOf(question: PlaygroundPrompt): Record<string, unknown> {
  return { ...question, stream: true, stream_options: { include_usage: true } };
}

/** Asks, and tells what has come each time that more has. Throws `Refused`, also when the answer breaks off. */
export async function ask(
  question: PlaygroundPrompt,
  signal: AbortSignal,
  tell: (answer: Answer) => void,
): Promise<void> {
  const startedMs = performance.now();
  const response = await send("POST", "/playground", { body: bodyOf(question), signal });
  if (!response.ok || response.body === null) throw await refusalOf(response);
  let answer = NOTHING;
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answer = after(answer, line, performance.now() - startedMs);
    tell(answer);
  }
  tell({ ...answer, totalMs: performance.now() - startedMs });
}

function after(answer: Answer, line: string, nowMs: number): Answer {
  if (!line.startsWith("data:")) return answer;
  const data = line.slice("data:".length).trim();
  if (data === "[DONE]" || data === "") return answer;
  const { choices = [], usage, error } = JSON.parse(data) as Chunk;
  if (error !== undefined) throw new Refused(error.message, { status: 200, code: error.code, param: null });
  const [choice] = choices;
  const text = choice?.delta?.content ?? "";
  const reasoning = choice?.delta?.reasoning_content ?? "";
  return {
    ...answer,
    text: answer.text + text,
    reasoning: answer.reasoning + reasoning,
    finish: choice?.finish_reason ?? answer.finish,
    inputTokens: usage?.prompt_tokens ?? answer.inputTokens,
    outputTokens: usage?.completion_tokens ?? answer.outputTokens,
    firstMs: answer.firstMs ?? (text + reasoning === "" ? undefined : nowMs),
  };
}

// The clients of the trial, which check everything: an answer must be complete and belong to its question.

import type { TrialNode } from "./cluster.ts";
import type { Entry, Journal } from "./journal.ts";
import { answerTo, costOf, DECISION_COST, newQuestion, probabilityOf } from "./questions.ts";

export interface Key {
  readonly name: string;
  readonly id: string;
  readonly text: string;
}

/** The time limit of a request, since a node may hang. The trial continues. */
const ANSWER_MS_MAX = 30_000;

/** Sends one question; the entry records its outcome. */
export async function ask(
  journal: Journal,
  node: TrialNode,
  request: {
    readonly kind: Entry["kind"];
    readonly key: Key;
    readonly requestId?: string;
    readonly maxTokens?: number | undefined;
  },
): Promise<Entry> {
  const { kind, key, maxTokens } = request;
  const question = newQuestion();
  const requestId = request.requestId ?? question;
  const entry: Entry = {
    ...{ question, requestId, kind, node: node.name, key: key.name },
    ...{ startMs: performance.now(), endMs: Number.POSITIVE_INFINITY },
    ...{ outcome: "none", status: 0, code: "", why: "", cost: undefined },
  };
  journal.entries.push(entry);
  try {
    const response = await fetch(node.url + (kind === "decision" ? "/v1/systemone" : "/v1/chat/completions"), {
      method: "POST",
      headers: {
        authorization: `Bearer ${key.text}`,
        "content-type": "application/json",
        "x-request-id": requestId,
      },
      body: JSON.stringify(bodyOf(kind, question, maxTokens)),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    entry.status = response.status;
    if (response.status === 200) await readAnswer(entry, response);
    else await readRefusal(entry, response);
    if (response.headers.get("x-request-id") !== requestId) entry.why = `the answer has another X-Request-ID`;
  } catch (error) {
    entry.why ||= `${entry.status === 0 ? "no answer" : "broken off"}: ${String(error)}`;
  }
  entry.endMs = performance.now();
  return entry;
}

/** Answers that no client may receive. */
export function wrongAnswers(journal: Journal): string[] {
  return journal.entries.filter(({ why }) => why.startsWith("the answer")).map(told);
}

export const told = ({ kind, node, key, status, code, why }: Entry): string =>
  `${kind} on ${node} with ${key}: ${status} ${code} ${why}`;

function bodyOf(kind: Entry["kind"], question: string, maxTokens: number | undefined): unknown {
  if (kind === "decision") {
    return { model: "judge", state: question, questions: { q: { type: "noul", instructions: "Is it so?" } } };
  }
  const messages = [{ role: "user", content: question }];
  const stream = kind === "stream" ? { stream: true, stream_options: { include_usage: true } } : {};
  return { model: "chat", messages, max_tokens: maxTokens, ...stream };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of the gateway, read where their form is known.
type Loose = any;

async function readRefusal(entry: Entry, response: Response): Promise<void> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: Loose };
    entry.code = String(error.code);
    entry.outcome = "refused";
    if (response.status === 503 && response.headers.get("retry-after") === null)
      entry.why = "the answer is a 503 without Retry-After";
  } catch {
    entry.why = `the answer is no error of ours: ${text.slice(0, 100)}`;
  }
}

async function readAnswer(entry: Entry, response: Response): Promise<void> {
  const { kind, question } = entry;
  if (kind === "decision") {
    const { answers } = (await response.json()) as Loose;
    const given = answers?.q?.noul;
    if (!(Math.abs(given - probabilityOf(question)) < 1e-6)) {
      entry.why = `the answer belongs to another question: ${JSON.stringify(answers)}`;
    }
    entry.cost = DECISION_COST;
  } else {
    const { text, output } =
      kind === "stream" ? await readStream(response) : readWhole((await response.json()) as Loose);
    if (text !== answerTo(question).join(""))
      entry.why = `the answer belongs to another question: ${text.slice(0, 80)}`;
    if (output !== costOf(question).output) entry.why = `the answer tells another cost: ${output}`;
    entry.cost = costOf(question);
  }
  entry.outcome = "whole";
}

function readWhole(body: Loose): { text: string; output: number } {
  return { text: body.choices[0].message.content, output: body.usage.completion_tokens };
}

async function readStream(response: Response): Promise<{ text: string; output: number }> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.startsWith("data: "));
  if (frames.at(-1) !== "data: [DONE]") throw new Error(`a stream without its end: ${frames.at(-1) ?? ""}`);
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)) as Loose);
  return {
    text: chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? "").join(""),
    output: chunks.find((chunk) => chunk.usage != null)?.usage.completion_tokens,
  };
}

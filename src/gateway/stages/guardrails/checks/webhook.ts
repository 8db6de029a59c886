// A server of the operator's that judges texts, or replaces them.

import { isRecord } from "../../../../base/json-object.ts";
import { FetchError, type Fetched } from "../../../../net/fetch.ts";
import { webhookSignature } from "../../../../net/signed-webhook.ts";
import type { GuardTools } from "../tools.ts";
import type { GuardVerdict, Judge, Judged } from "./judge.ts";

interface WebhookOptions {
  /** The name of the guardrail. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** More is refused: the request would wait for it, and its answer may be as long. */
const BODY_CHARS_MAX = 32 * 1024 * 1024;
/** What an answer may have beside the texts. */
const ANSWER_BYTES = 64 * 1024;
/** A text may grow by escapes and longer words. */
const ANSWER_GROWTH = 6;

/** Creates the judge that asks a server. */
export function webhookJudge(options: WebhookOptions, tools: GuardTools): Judge {
  return {
    isBeside: false,
    readsAnswersOnly: false,
    async judge(judged) {
      const { side, texts, request } = judged;
      const sent = { guardrail: options.name, stage: side, model: request.model, texts: texts.map(({ text }) => text) };
      const body = JSON.stringify(sent);
      if (body.length > BODY_CHARS_MAX) throw new Error("the texts are too long for a webhook");
      return verdictOf(await asked(body, judged, { ...options, tools }), texts.length);
    },
  };
}

/** Asks the server, and once more if it could not answer. */
async function asked(
  body: string,
  { signal }: Judged,
  { url, headers, tools }: WebhookOptions & { readonly tools: GuardTools },
): Promise<Fetched> {
  const signature = webhookSignature(body, { secret: tools.webhookSecret, nowSeconds: tools.nowSeconds() });
  const post = () =>
    tools.fetch(url, {
      method: "POST",
      body,
      bytesMax: ANSWER_BYTES + ANSWER_GROWTH * body.length,
      timeoutMs: TIMEOUT_MS,
      redirectsMax: 0,
      purpose: "webhook",
      signal,
      headers: { ...headers, "content-type": "application/json", ...signature },
    });
  try {
    const first = await post();
    return mayAnswerLater(first.status) ? await post() : first;
  } catch (error) {
    if (signal.aborted || !(error instanceof FetchError) || error.fault === "redirects") throw error;
    return post();
  }
}

/** The time of a check ends it before. */
const TIMEOUT_MS = 600_000;

function mayAnswerLater(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

function verdictOf({ status, body }: Fetched, count: number): GuardVerdict {
  if (status < 200 || status > 299) throw new Error(`the webhook answered with status ${status}`);
  const answer: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  const { action, texts } = isRecord(answer) ? answer : {};
  if (action === "allow" || action === "deny") return action;
  if (action !== "replace") throw new Error('the webhook answered without an "action" of allow, deny or replace');
  if (!isTexts(texts, count))
    throw new Error(`the webhook must replace texts by as many: "texts" must be ${count} texts`);
  return { texts };
}

function isTexts(value: unknown, count: number): value is readonly string[] {
  return Array.isArray(value) && value.length === count && value.every((one) => typeof one === "string");
}

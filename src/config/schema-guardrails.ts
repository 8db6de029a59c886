// The keys of `guardrails`.

import { Type } from "@sinclair/typebox";
import { choice, duration, element, entry, flag, formatted, list, map, required, section, text } from "./fields.ts";

const KINDS = ["pii", "pattern", "words", "schema", "webhook", "decision"] as const;
const PII = ["email", "phone", "card", "iban", "ip", "secret"] as const;
const SIDES = ["input", "output"] as const;

/** JSON of the operator's own. */
function open(description: string) {
  return Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", description, default: {} });
}

function oneOf<const C extends string>(choices: readonly C[]) {
  return Type.Unsafe<C>({ type: "string", enum: choices });
}

/** An entry of `guardrails`. */
export const GuardrailEntry = entry("A guardrail.", {
  name: required("A name of its own, which headers, logs and metrics show."),
  on: list("What it looks through: input, output.", oneOf(SIDES), { default: [...SIDES], minItems: 1 }),
  check: entry("What it looks for.", {
    kind: Type.Unsafe<(typeof KINDS)[number]>({ type: "string", enum: KINDS, description: "The kind of check." }),
    find: list("pii: what to find.", oneOf(PII), { default: [...PII], minItems: 1 }),
    patterns: map(
      "pattern: regular expressions by name, which also names their placeholders. Syntax as in JavaScript, without look-around and references; (?i) at the beginning: in upper and lower case.",
      Type.String(),
    ),
    words: list("words: words and phrases, in upper and lower case.", element("text")),
    file: text("words: a file with one word or phrase on each line."),
    schema: open("schema: a JSON schema (2020-12) that the text of an answer must fit."),
    url: formatted("url", "webhook: a server that is asked. A private address must stand in web.allow_caller_data."),
    headers: Type.Record(
      Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }),
      Type.String({ secret: true, blank: true, format: "header" }),
      { additionalProperties: false, description: "webhook: further request headers.", default: {} },
    ),
    model: text("decision: the id or alias of a decision version."),
    question: open("decision: a question of the type noul, as in a request to /v1/systemone."),
    at_least: Type.Number({
      description: "decision: from this probability of yes on, the text is denied.",
      default: 0.5,
      minimum: 0,
      maximum: 1,
    }),
    beside: flag("decision: a chat is on its way to its model meanwhile; nothing of the answer leaves before.", true),
  }),
  action: choice(
    "deny: the request or the answer ends. mask (pii, pattern, words): a placeholder stands for what was found. note: it is only counted.",
    "deny",
    ["deny", "mask", "note"],
  ),
  restore: flag("mask: placeholders in the answer become the values of the request again.", true),
  apply: section("For which requests. All that are set must fit.", {
    models: list("Ids of models; * is any text. Empty: all.", element("text"), { default: ["*"] }),
    tiers: list("Plans. Empty: all.", element("text")),
    keys: list("Names of keys; * is any text. Empty: all.", element("text")),
  }),
  on_error: choice("What happens to a text if the check fails or is late.", "deny", ["deny", "pass"]),
  timeout: duration("How long a check may take that asks others.", "2s"),
});

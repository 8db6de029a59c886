// The keys of `guardrails`.

import { Type } from "@sinclair/typebox";
import { choice, duration, element, entry, flag, list, map, required, section, text } from "./fields.ts";

const KINDS = ["pii", "pattern", "words"] as const;
const PII = ["email", "phone", "card", "iban", "ip", "secret"] as const;
const SIDES = ["input", "output"] as const;

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
  }),
  action: choice(
    "deny: the request or the answer ends. mask: a placeholder stands for what was found. note: it is only counted.",
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

// A schema that an answer must fit.

import { createSchemaTest } from "../../../../base/schema-test.ts";
import type { Judge, Judged } from "./judge.ts";

/** Creates the judge of a JSON schema. A choice that only calls tools is not judged, and of several rounds the last one is. */
export function schemaJudge(schema: Readonly<Record<string, unknown>>): Judge {
  const fits = createSchemaTest(schema);
  return {
    isBeside: false,
    readsAnswersOnly: true,
    judge: ({ texts }) => (answersOf(texts).every((text) => fitsText(fits, text)) ? "allow" : "deny"),
  };
}

function answersOf(texts: Judged["texts"]): readonly string[] {
  const answers = new Map<number, string>();
  for (const { kind, choice, text, isInterim } of texts) {
    if (kind === "text" && isInterim !== true) answers.set(choice, (answers.get(choice) ?? "") + text);
  }
  return [...answers.values()];
}

function fitsText(fits: (value: unknown) => boolean, text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  return fits(value);
}

// Checks of `guardrails` that need more than one key.

import { LinearPattern } from "../base/linear-pattern.ts";
import { createSchemaTest } from "../base/schema-test.ts";
import type { ReadConfig } from "./schema.ts";

type Report = (path: string, message: string) => void;
type Guardrail = ReadConfig["guardrails"][number];

/** Reports the contradictions in guardrails. */
export function checkGuardrails(
  { guardrails, alerts }: Pick<ReadConfig, "guardrails" | "alerts">,
  report: Report,
): void {
  const names = new Map<string, number>();
  for (const [at, guardrail] of guardrails.entries()) {
    const path = `guardrails[${at}]`;
    const { name } = guardrail;
    if (!/^[\w.-]{1,64}$/.test(name)) report(`${path}.name`, "expected letters, digits, '.', '_' and '-'");
    const before = names.get(name);
    if (before !== undefined) report(`${path}.name`, `is already taken by guardrails[${before}]`);
    names.set(name, at);
    const { findsParts, check } = KINDS[guardrail.check.kind];
    if (guardrail.action === "mask" && !findsParts) {
      report(`${path}.action`, `expected deny or note: ${guardrail.check.kind} finds no part of a text`);
    }
    if (guardrail.check.kind === "webhook" && alerts.webhookSecret === "") {
      report("alerts.webhook_secret", `is required: it signs what ${path} sends`);
    }
    check(guardrail, path, report);
  }
}

/** A kind of check. */
interface KindOfCheck {
  /** Whether it finds parts of texts, for which placeholders can stand. */
  readonly findsParts: boolean;
  /** Reports what it lacks. */
  check(guardrail: Guardrail, path: string, report: Report): void;
}

const KINDS: Readonly<Record<Guardrail["check"]["kind"], KindOfCheck>> = {
  pii: { findsParts: true, check: () => undefined },
  pattern: { findsParts: true, check: checkPatterns },
  words: { findsParts: true, check: checkWords },
  schema: { findsParts: false, check: checkSchema },
  webhook: { findsParts: false, check: checkWebhook },
  decision: { findsParts: false, check: checkDecision },
};

function checkWords({ check }: Guardrail, path: string, report: Report): void {
  if (check.words.length === 0 && check.file === "") report(`${path}.check`, "needs words or file");
}

function checkSchema({ check, on }: Guardrail, path: string, report: Report): void {
  if (!on.includes("output")) report(`${path}.on`, "expected output: a schema is for answers");
  if (Object.keys(check.schema).length === 0) {
    report(`${path}.check.schema`, "is required");
    return;
  }
  try {
    createSchemaTest(check.schema);
  } catch (error) {
    report(`${path}.check.schema`, `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkWebhook({ check }: Guardrail, path: string, report: Report): void {
  if (check.url === "") report(`${path}.check.url`, "is required");
}

function checkDecision({ check: { model, question } }: Guardrail, path: string, report: Report): void {
  if (model === "") report(`${path}.check.model`, "is required");
  if (question["type"] !== undefined && question["type"] !== "noul") {
    report(`${path}.check.question.type`, "expected noul");
  }
  if (question["instructions"] === undefined && question["criteria"] === undefined) {
    report(`${path}.check.question`, "needs instructions or criteria");
  }
}

function checkPatterns({ check }: Guardrail, at: string, report: Report): void {
  const path = `${at}.check`;
  const patterns = Object.entries(check.patterns);
  if (patterns.length === 0) report(`${path}.patterns`, "needs at least one entry");
  for (const [name, source] of patterns) {
    try {
      new LinearPattern(source);
    } catch (error) {
      report(`${path}.patterns.${name}`, `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

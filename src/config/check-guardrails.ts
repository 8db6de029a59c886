// Checks of `guardrails` that need more than one key.

import { LinearPattern } from "../base/linear-pattern.ts";
import type { ReadConfig } from "./schema.ts";

type Report = (path: string, message: string) => void;
type Guardrail = ReadConfig["guardrails"][number];

/** Reports the contradictions in guardrails. */
export function checkGuardrails({ guardrails }: Pick<ReadConfig, "guardrails">, report: Report): void {
  const names = new Map<string, number>();
  for (const [at, guardrail] of guardrails.entries()) {
    const path = `guardrails[${at}]`;
    const { name } = guardrail;
    if (!/^[\w.-]{1,64}$/.test(name)) report(`${path}.name`, "expected letters, digits, '.', '_' and '-'");
    const before = names.get(name);
    if (before !== undefined) report(`${path}.name`, `is already taken by guardrails[${before}]`);
    names.set(name, at);
    checkKind(guardrail, `${path}.check`, report);
  }
}

function checkKind({ check }: Guardrail, path: string, report: Report): void {
  if (check.kind === "words" && check.words.length === 0 && check.file === "") report(path, "needs words or file");
  if (check.kind !== "pattern") return;
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

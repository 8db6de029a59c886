// The contract of the store, which every engine must pass. A verb without a case fails, and so does a case that does
// not call its verb.

import { afterAll, describe, expect, test } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { accountsContract } from "./accounts.ts";
import { alertsContract } from "./alerts.ts";
import { cachedAnswersContract } from "./cached-answers.ts";
import { codesContract } from "./codes.ts";
import { ENGINES, type Opened } from "./engines.ts";
import { frontierContract } from "./frontier.ts";
import { jobsContract } from "./jobs.ts";
import { keyDebugContract } from "./key-debug.ts";
import { keyContract } from "./keys.ts";
import { projectsContract } from "./projects.ts";
import { runsContract } from "./runs.ts";
import { sessionContract } from "./sessions.ts";
import { smallContract } from "./small.ts";
import { usageContract } from "./usage.ts";
import { workContract } from "./work.ts";
import { type Cases, type Contract, worldOf } from "./world.ts";

const CONTRACT: { readonly [Domain in keyof Verbs]: Contract<Domain> } = {
  ...accountsContract,
  ...keyContract,
  ...sessionContract,
  ...codesContract,
  ...usageContract,
  ...workContract,
  ...jobsContract,
  ...frontierContract,
  ...smallContract,
  ...keyDebugContract,
  ...cachedAnswersContract,
  ...projectsContract,
  ...alertsContract,
  ...runsContract,
};

const domains = Object.entries(CONTRACT) as [keyof Verbs, Readonly<Record<string, Cases>>][];

/** Kinds of cases that a verb needs because of its name. */
const ASKED: readonly (readonly [name: RegExp, kind: string])[] = [
  [/^(?:list|search|top|totalsBy|sumsBy|sumsOf|latencyBy|take)/, "order"],
  [/^delete(?:Expired|Old|.*Before$)/, "time"],
  [/^(?:create|save|put|issue|add|link|rotate|claim|take|keep|note|set|house|open|secret|write)/, "concurrency"],
];

for (const engine of ENGINES) {
  const available = await engine.available();

  describe.skipIf(!available)(engine.name, () => {
    afterAll(() => engine.end());

    test("every verb has cases, of the kinds that its name asks for", async () => {
      const opened = await engine.open();
      try {
        for (const [domain, verbs] of Object.entries(opened.verbs)) {
          const covered = CONTRACT[domain as keyof Verbs] as Readonly<Record<string, Cases>> | undefined;
          expect([domain, Object.keys(covered ?? {}).sort()]).toEqual([domain, Object.keys(verbs as object).sort()]);
        }
      } finally {
        await opened.close();
      }
      const missing = domains.flatMap(([domain, verbs]) =>
        Object.entries(verbs).flatMap(([verb, cases]) => {
          const kinds = new Set(Object.keys(cases).map((name) => name.split(":")[0]));
          const asked = ASKED.filter(([name, kind]) => name.test(verb) && !kinds.has(kind)).map(([, kind]) => kind);
          return kinds.size === 0 ? [`${domain}.${verb}: none`] : asked.map((kind) => `${domain}.${verb}: ${kind}`);
        }),
      );
      expect(missing).toEqual([]);
    });

    test("every verb gives a promise", async () => {
      const opened = await engine.open();
      try {
        for (const verbs of Object.values(opened.verbs) as Record<string, (...args: unknown[]) => unknown>[]) {
          for (const verb of Object.values(verbs)) {
            const answer = verb();
            expect(answer).toBeInstanceOf(Promise);
            await (answer as Promise<unknown>).catch(() => undefined);
          }
        }
      } finally {
        await opened.close();
      }
    });

    for (const [domain, verbs] of domains) {
      for (const [verb, cases] of Object.entries(verbs)) {
        for (const [name, run] of Object.entries(cases)) {
          test(`${domain}.${verb}: ${name}`, async () => {
            const opened = await engine.open();
            const called = new Set<string>();
            try {
              await run(worldOf(watched(opened, called)));
            } finally {
              await opened.close();
            }
            expect([...called]).toContain(`${domain}.${verb}`);
          });
        }
      }
    }
  });
}

/** The same verbs, recording which of them are called. */
function watched(opened: Opened, called: Set<string>): Opened {
  const watch = (verbs: Verbs): Verbs =>
    Object.fromEntries(
      Object.entries(verbs).map(([domain, own]) => [
        domain,
        new Proxy(own as object, {
          get(target, verb, self) {
            called.add(`${domain}.${String(verb)}`);
            return Reflect.get(target, verb, self);
          },
        }),
      ]),
    ) as unknown as Verbs;
  return {
    verbs: watch(opened.verbs),
    clock: opened.clock,
    again: async () => watch(await opened.again()),
    close: () => opened.close(),
  };
}

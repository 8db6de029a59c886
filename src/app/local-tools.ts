// The tools for agents without a server or a key: the same endpoints over a temporary store, for the user of the program.
// Wiring only.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { resolveModel } from "../catalog/resolve.ts";
import type { Config } from "../config/schema.ts";
import { createDecisions } from "../decisions/assemble.ts";
import { createWebModels } from "../gateway/inner/web-model.ts";
import { createInnerCalls } from "../http/inner-call.ts";
import { openStore } from "../store/engine/open.ts";
import { type Verbs, verbsOf } from "../store/verbs.ts";
import { createWeb } from "../web/assemble.ts";
import { createLocalFleet, OPERATOR } from "./local-fleet.ts";
import { describedEndpoints, resourcesOf, toolEndpoints } from "./mcp.ts";

/** Called with problems. */
export type Note = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Opens them; `close` closes them and deletes their store. */
export async function openLocalTools(config: Config, note: Note) {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-mcp-"));
  const store = openStore({ dataDir });
  try {
    const verbs = verbsOf(store, () => config.limits.storagePerAccountBytes);
    const caller = { ...OPERATOR, accountId: await addAccount(verbs) };
    const parts = createParts(config, { verbs, changeCounter: store.changeCounter, caller, note });
    const { web, decisions, fleet } = parts;
    await decisions.load();
    web.start();
    web.background();
    const failed = (what: string) => (error: unknown) => note(`${what} could not be listed`, { error });
    // Listing models may take a while, and only requests for the list of tools wait for it.
    const models = Promise.all([
      fleet.start().catch(failed("models")),
      decisions.start().catch(failed("decision models")),
    ]);
    return {
      resources: resourcesOf({ web, decisions, webModels: parts.choice }, caller),
      endpoints: async () => {
        await models;
        return describedEndpoints();
      },
      call: createInnerCalls({
        handle: toolEndpoints([web.routes, decisions.routes]),
        via: "stdio",
        finished: () => undefined,
        unexpected: (_exchange, error) => note("unexpected error", { error }),
      }),
      unexpected: (error: unknown) => note("a tool failed unexpectedly", { error }),
      async close(): Promise<void> {
        fleet.stop();
        decisions.stop();
        await web.stop();
        store.close();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    store.close();
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

/** Jobs need an account. */
async function addAccount({ accounts }: Pick<Verbs, "accounts">): Promise<string> {
  const made = await accounts.createAccount({ username: "local", email: "local@localhost", tier: "premium" });
  if ("refused" in made) throw new Error(`The store is not empty: ${made.refused}`);
  return made.id;
}

interface Ground {
  readonly verbs: Verbs;
  changeCounter(): number;
  readonly caller: typeof OPERATOR;
  readonly note: Note;
}

function createParts(config: Config, { verbs, changeCounter, caller, note }: Ground) {
  const { fleet, calls, choice } = createLocalFleet(config, note);
  const admitted = {
    config: () => config,
    clock: systemClock,
    authenticate: () => caller,
    admit: () => caller,
    warn: note,
    bodyLimits: () => ({ maxBytes: config.server.maxBodyBytes, valuesMax: config.server.maxBodyValues }),
  };
  const web = createWeb({
    owner: "tools",
    whenJobEnds: () => undefined,
    // Only jobs that endpoints start send events.
    webhookSecret: () => Promise.reject(new Error("No webhooks are sent here.")),
    ...admitted,
    jobs: verbs.jobs,
    frontier: verbs.frontier,
    answers: verbs.answers,
    makeRoom: verbs.storage.makeRoom,
    anonymousRpm: () => 0,
    metrics: { rateLimited: () => undefined, searchEngine: () => undefined },
    settings: verbs.settings,
    findModel: createWebModels({ ask: calls, ...choice, callerOf: async () => caller }),
  });
  const decisions = createDecisions({
    ...calls,
    ...admitted,
    store: verbs.decisions,
    changeCounter,
    chatProvider: fleet.provider,
    chatPrices: fleet.prices,
    requestTimeoutMs: () => config.server.requestTimeoutMs,
    isChatModel: (id) => resolveModel(fleet.catalog(), id)?.model.kind === "chat",
  });
  return { web, decisions, fleet, choice };
}

// The architecture rules of the gateway's folders: the centre knows no stage.

import type { Finding, Rule } from "./rules.ts";
import { importsOf } from "./source.ts";

const CENTRE = "src/gateway/centre/";
const STAGES = "src/gateway/stages/";

/** The imports of stages that the centre still has. An entry may only be removed. */
export const STILL_IMPORTED: ReadonlySet<string> = new Set([
  "centre/answer-record.ts > stages/history/not-kept.ts",
  "centre/answer-stream.ts > stages/affinity/first-turn.ts",
  "centre/answer-stream.ts > stages/history/not-kept.ts",
  "centre/answer-whole.ts > stages/affinity/first-turn.ts",
  "centre/answer-whole.ts > stages/history/not-kept.ts",
  "centre/chat-exchange.ts > stages/affinity/affinity.ts",
  "centre/chat-exchange.ts > stages/compaction/items.ts",
  "centre/chat-exchange.ts > stages/reasoning/answer-notes.ts",
  "centre/chat-exchange.ts > stages/reasoning/call-names.ts",
  "centre/chat-exchange.ts > stages/reasoning/open-history.ts",
  "centre/chat-exchange.ts > stages/reasoning/reasoning-memory.ts",
  "centre/chat-exchange.ts > stages/reasoning/refused-reasoning.ts",
  "centre/chat-exchange.ts > stages/threads/gateway-threads.ts",
  "centre/chat-exchange.ts > stages/threads/upstream-threads.ts",
  "centre/deps.ts > stages/affinity/affinity.ts",
  "centre/deps.ts > stages/compaction/conversations.ts",
  "centre/deps.ts > stages/reasoning/reasoning-memory.ts",
  "centre/deps.ts > stages/threads/gateway-threads.ts",
  "centre/deps.ts > stages/threads/upstream-threads.ts",
  "centre/prepare.ts > stages/compaction/items.ts",
  "centre/prepare.ts > stages/compaction/seal.ts",
  "centre/prepare.ts > stages/files/media.ts",
  "centre/prepare.ts > stages/history/history.ts",
  "centre/prepare.ts > stages/threads/gateway-threads.ts",
  "centre/prepare.ts > stages/threads/upstream-threads.ts",
  "centre/run.ts > stages/choice/route-choice.ts",
  "centre/run.ts > stages/reasoning/refused-reasoning.ts",
  "centre/run.ts > stages/threads/upstream-threads.ts",
]);

/** Every import of a stage in the centre, as `centre/a.ts > stages/b/c.ts`. */
export function stageImports(files: ReadonlyMap<string, string>): { looked: number; found: string[] } {
  const paths = [...files.keys()].filter((path) => path.startsWith(CENTRE));
  const found = paths.flatMap((path) =>
    importsOf(path, files.get(path) ?? "").flatMap(({ target }) =>
      target?.startsWith(STAGES) === true ? [`${inGateway(path)} > ${inGateway(target)}`] : [],
    ),
  );
  return { looked: paths.length, found };
}

const inGateway = (path: string) => path.slice("src/gateway/".length);

export const centreKnowsNoStage: Rule = {
  name: "the gateway's centre imports no stage",
  check(files): Finding {
    const { looked, found } = stageImports(files);
    return { looked, violations: found.filter((one) => !STILL_IMPORTED.has(one)) };
  },
};

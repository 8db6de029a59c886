// Trials that take too long for the test suite, with the real program and failing providers.
// Usage: bun scripts/soak.ts [load MINUTES [SEED] | kill | drain | aborts | hostile | search | all MINUTES] [--binary
// FILE]
//   load    mixed load while providers fail at random: every answer must be complete or properly refused, and the
//           recorded usage must equal what the providers charged
//   kill    kill -9 under load, three times: the database stays sound and lacks at most one second of usage
//   drain   SIGTERM with 100 open streams: all of them finish, then the program exits with 0
//   aborts  10,500 streams whose clients disconnect: memory stays level and no provider continues to send
//   hostile crawls, PDFs and bodies made to stall the gateway or to fill its memory: other requests are answered
//           meanwhile, and memory is limited. Takes a minute, on an otherwise idle machine
//   search  the time of a search beyond its slowest engine, 50 searches at once, and 10,000 with failing engines: memory
//           is limited

import { parseArgs } from "node:util";
import { aborts } from "./soak/aborts.ts";
import { drain } from "./soak/drain.ts";
import { hostile } from "./soak/hostile.ts";
import { kill } from "./soak/kill.ts";
import { load } from "./soak/load.ts";
import { search } from "./soak/search.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { binary: { type: "string" } } });
const [trial = "all", minutes = "1", seed = String(Date.now() % 1e6)] = positionals;
const { binary } = values;

const trials: Record<string, () => Promise<string[]>> = {
  load: () => load({ minutes: Number(minutes), seed: Number(seed), binary }),
  kill: () => kill({ seed: Number(seed), binary }),
  drain: () => drain({ binary }),
  aborts: () => aborts({ binary }),
  hostile: () => hostile({ binary }),
  search: () => search({ binary, seed: Number(seed) }),
};
const chosen = trial === "all" ? Object.keys(trials) : [trial];
let failures = 0;
for (const name of chosen) {
  const run = trials[name];
  if (run === undefined) {
    process.stderr.write(`unknown trial: ${name}\n`);
    process.exit(2);
  }
  process.stdout.write(`${name}\n`);
  const problems = await run();
  for (const problem of problems) process.stdout.write(`  FAILED ${problem}\n`);
  failures += problems.length;
}
process.stdout.write(failures === 0 ? "all held\n" : `${failures} did not hold\n`);
process.exit(failures === 0 ? 0 : 1);

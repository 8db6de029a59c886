// Shows what the ways to choose among a model's routes bring: `bun scripts/simulate-routing.ts`.

import { SCENES, simulate } from "./routing/simulate.ts";

for (const [name, scene] of Object.entries(SCENES)) {
  console.log(
    `\n${name}\n| routing | p50 | p99 | $ for 1,000 requests | shares | changes |\n|---|---|---|---|---|---|`,
  );
  for (const choice of ["priority", "latency", "cost", "busy"] as const) {
    const { p50Ms, p99Ms, cost, shares, changes } = simulate(choice, scene);
    const parts = Object.entries(shares).map(([provider, share]) => `${provider} ${Math.round(share * 100)} %`);
    console.log(`| ${choice} | ${p50Ms} ms | ${p99Ms} ms | ${cost.toFixed(2)} | ${parts.join(", ")} | ${changes} |`);
  }
}

// Measures typed decisions with the compiled program: the time of a call beyond the upstream's own, ten questions to a
// slow chat model, and how long counting tokens blocks the program. Usage: bun scripts/bench/decisions.ts [BINARY]
// [--calls N]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { calls: { type: "string", default: "500" } },
});
const binary = resolve(positionals[0] ?? join(import.meta.dir, "../../dist/sallyport"));
const calls = Number(values.calls);
const home = mkdtempSync(join(tmpdir(), "sallyport-bench-"));

const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const body = (await request.json()) as { model: string; questions?: Record<string, unknown> };
    return new URL(request.url).pathname.endsWith("/systemone") ? native(body) : await letter(body.model);
  },
});
const base = `http://127.0.0.1:${upstream.port}/v1`;

function native({ model, questions }: { model: string; questions?: Record<string, unknown> }): Response {
  const answers = Object.fromEntries(Object.keys(questions ?? {}).map((key) => [key, { type: "noul", noul: 0.87 }]));
  return Response.json({ model, answers, usage: { input_tokens: 20, output_tokens: 2 } });
}

const SLOW_MS = 100;

async function letter(model: string): Promise<Response> {
  if (model === "slow") await Bun.sleep(SLOW_MS);
  const tokens = ["A", "B"].map((token) => ({ token, logprob: Math.log(0.5), bytes: null }));
  const logprobs = { content: [{ ...tokens[0], top_logprobs: tokens }] };
  const message = { role: "assistant", content: "A" };
  return Response.json({
    id: "x",
    object: "chat.completion",
    created: 1,
    model,
    choices: [{ index: 0, message, logprobs, finish_reason: "length" }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  });
}

const model = (id: string, kind: string, provider: string, upstreamModel: string) => ({
  id,
  backend: { kind, routes: [{ provider, model: upstreamModel }] },
});
await Bun.write(
  join(home, "sallyport.yaml"),
  JSON.stringify({
    server: { port: 0 },
    tiers: { premium: { rpm: 1_000_000 } },
    providers: {
      native: { kind: "systemone", base_url: base },
      chat: { kind: "openai", base_url: base, discover: false },
    },
    decisions: {
      models: [
        model("native-1.0.0", "systemone", "native", "jev-1"),
        model("slow-1.0.0", "logprobs", "chat", "slow"),
        model("quick-1.0.0", "logprobs", "chat", "quick"),
      ],
    },
  }),
);

async function command(...args: string[]): Promise<Record<string, unknown>> {
  const child = Bun.spawn([binary, ...args, "--json"], { cwd: home, stdin: "ignore", stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text()) as Record<string, unknown>;
}

const NOUL = { type: "noul", instructions: "Is it urgent?" };
const body = (id: string, state: string, questions: Record<string, unknown> = { q: NOUL }) =>
  JSON.stringify({ model: id, state, questions });

async function post(url: string, key: string, text: string): Promise<number> {
  const from = performance.now();
  const answer = await fetch(url, {
    method: "POST",
    body: text,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  await answer.arrayBuffer();
  if (answer.status !== 200 && answer.status !== 413) throw new Error(`status ${answer.status}`);
  return performance.now() - from;
}

const at = (list: readonly number[], share: number) =>
  [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)]!;
const shown = (list: readonly number[]) => `p50 ${at(list, 0.5).toFixed(2)} ms, p95 ${at(list, 0.95).toFixed(2)} ms`;

/** A separate process of the program, which `stop` ends. */
async function start(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = Bun.spawn([binary, "serve"], { cwd: home, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const line = new TextDecoder().decode((await child.stdout.getReader().read()).value);
  return {
    url: /http:\S+/.exec(line)![0],
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

const STARTS = 5;
let running: Awaited<ReturnType<typeof start>> | undefined;
try {
  await command("account", "create", "--email", "a@example.com", "--username", "a", "--tier", "premium", "--verified");
  const key = String((await command("key", "create", "--account", "a@example.com", "--name", "a"))["key"]);
  const ask = (text: string) => post(`${running!.url}/v1/systemone`, key, text);

  // The first request of a program, at an upstream that does not count tokens: one letter, or sixty thousand letters
  // without a space.
  const first: Record<string, number[]> = { a: [], long: [], later: [] };
  for (let run = 0; run < STARTS; run++) {
    for (const [name, letters] of [
      ["a", 1],
      ["long", 60_000],
    ] as const) {
      running = await start();
      first[name]!.push(await ask(body("quick-1.0.0", "a".repeat(letters))));
      if (letters > 1) first["later"]!.push(await ask(body("quick-1.0.0", "a".repeat(letters))));
      await running.stop();
    }
  }
  const best = (name: string) => `${Math.min(...first[name]!).toFixed(1)} ms`;
  console.log(
    `first request of a program (best of ${STARTS}): "a" ${best("a")}; 60,000 × "a" ${best("long")}, the next ${best("later")}`,
  );

  running = await start();
  // They alternate, so that other work on the machine affects both alike.
  const direct: number[] = [];
  const through: number[] = [];
  const small = body("native-1.0.0", "The server is down!");
  for (let call = -50; call < calls; call++) {
    const [one, other] = [await post(`${base}/systemone`, key, small), await ask(small)];
    if (call < 0) continue;
    direct.push(one);
    through.push(other);
  }
  console.log(`one question: direct ${shown(direct)}; through ${shown(through)}`);
  console.log(`overhead of a one-question call: p50 ${(at(through, 0.5) - at(direct, 0.5)).toFixed(2)} ms`);

  const ten = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`q${n}`, NOUL]));
  const slow: number[] = [];
  for (let call = 0; call < 10; call++)
    slow.push(await ask(body("slow-1.0.0", "The server is down! ".repeat(300), ten)));
  console.log(`ten questions in both orders on a ${SLOW_MS} ms chat model: ${shown(slow)}`);

  // The delay of other requests while the largest states are counted.
  const waits: number[] = [];
  let counting = true;
  const others = (async () => {
    while (counting) {
      const from = performance.now();
      await (await fetch(`${running.url}/livez`)).arrayBuffer();
      waits.push(performance.now() - from);
    }
  })();
  for (const state of ["a".repeat(6_000_000), "漢字".repeat(90_000), "The quick brown fox. ".repeat(20_000)]) {
    await ask(body("native-1.0.0", state));
  }
  counting = false;
  await others;
  console.log(`/livez beside states of up to 6 MB: ${shown(waits)}, longest ${Math.max(...waits).toFixed(1)} ms`);
} finally {
  await running?.stop();
  await upstream.stop(true);
  rmSync(home, { recursive: true, force: true });
}

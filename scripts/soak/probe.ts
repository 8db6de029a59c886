// A client that uses the gateway while others try to stall it. It runs in a separate process, so that only the gateway
// is measured. Usage: bun scripts/soak/probe.ts URL KEY SECONDS → one line of JSON: { chats, livezP99Ms,
// livezLongestMs, failures }

const [url = "", key = "", seconds = "5"] = process.argv.slice(2);
const CHATS_AT_ONCE = 8;
const LIVEZ_EVERY_MS = 10;

const endsMs = performance.now() + Number(seconds) * 1000;
const isOver = () => performance.now() >= endsMs;
const livezMs: number[] = [];
let chats = 0;
let failures = 0;

async function chat(): Promise<void> {
  while (!isOver()) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: '{"model":"solo","messages":[{"role":"user","content":"hello"}]}',
    });
    await answer.text();
    if (answer.status === 200) chats++;
    else failures++;
  }
}

async function livez(): Promise<void> {
  while (!isOver()) {
    const startedMs = performance.now();
    const answer = await fetch(`${url}/livez`);
    await answer.text();
    livezMs.push(performance.now() - startedMs);
    if (answer.status !== 200) failures++;
    await Bun.sleep(LIVEZ_EVERY_MS);
  }
}

await Promise.all([livez(), ...Array.from({ length: CHATS_AT_ONCE }, chat)]);
livezMs.sort((a, b) => a - b);
const livezP99Ms = livezMs[Math.floor(livezMs.length * 0.99)] ?? 0;
process.stdout.write(`${JSON.stringify({ chats, failures, livezP99Ms, livezLongestMs: livezMs.at(-1) ?? 0 })}\n`);

export {};

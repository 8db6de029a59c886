// A client of the measurement of nodes, in a process of its own: asks as fast as answers come, and prints how many came.
// Usage: client.ts URL KEY SECONDS LANES

const [url = "", key = "", seconds = "1", lanes = "16"] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Say something." }] });
const untilMs = performance.now() + Number(seconds) * 1000;
let answers = 0;

const lane = async () => {
  while (performance.now() < untilMs) {
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
    answers += 1;
  }
};
await Promise.all(Array.from({ length: Number(lanes) }, lane));
process.stdout.write(`${answers}\n`);

export {};

// The thread of quiet-upstream.ts: a provider that speaks chat completions.

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...(finish === null ? {} : { usage }) })}\n\n`;
const STREAM = `${chunk({ role: "assistant", content: "Hello." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
const WHOLE = {
  id: "a",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage,
};
const ANSWERS: readonly (readonly [string, object])[] = [
  ["/embeddings", { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }], model: "m", usage }],
  ["/rerank", { results: [{ index: 0, relevance_score: 0.5 }] }],
  ["/images/generations", { created: 1, data: [{ b64_json: "AAAA" }] }],
];

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 64 * 1024 * 1024,
  async fetch(request) {
    const body = await request.text();
    const answer = ANSWERS.find(([path]) => request.url.endsWith(path))?.[1];
    if (answer !== undefined) return Response.json(answer);
    if (request.url.endsWith("/audio/speech"))
      return new Response("RIFF", { headers: { "content-type": "audio/wav" } });
    if (!body.includes('"stream":true')) return Response.json(WHOLE);
    return new Response(STREAM, { headers: { "content-type": "text/event-stream" } });
  },
});
postMessage(server.port);

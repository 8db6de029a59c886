// A provider that uses as little processor time as possible, in a separate process. Prints its port. It speaks the Chat Completions
// API and Gemini's. If a stream is requested, it sends CHUNKS chunks, a few in each write, as networks deliver them.

/** The number of chunks in a stream. */
export const CHUNKS = 500;
const CHUNKS_PER_WRITE = 5;

if (import.meta.main) {
  const encoder = new TextEncoder();
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const frame = (choice: object) => `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })}\n\n`;
  const inWrites = (frameOf: (index: number) => string) =>
    Array.from({ length: CHUNKS / CHUNKS_PER_WRITE }, (_, at) =>
      encoder.encode(Array.from({ length: CHUNKS_PER_WRITE }, (_, i) => frameOf(at * CHUNKS_PER_WRITE + i)).join("")),
    );
  const writes = inWrites((index) => frame({ delta: { content: ` word${index % 97}` } }));
  const usage = { prompt_tokens: 9, completion_tokens: CHUNKS, total_tokens: CHUNKS + 9 };
  const end = `${frame({ delta: {}, finish_reason: "stop" })}data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`;
  const whole = JSON.stringify({
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
    usage,
  });

  const answerOfGemini = (text: string, count: number, more: object = {}) => ({
    candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: count, totalTokenCount: count + 9 },
    ...{ modelVersion: "m", responseId: "r" },
  });
  const frameOfGemini = (index: number, more?: object) =>
    `data: ${JSON.stringify(answerOfGemini(` word${index % 97}`, index + 1, more))}\n\n`;
  const gemini = {
    whole: JSON.stringify(answerOfGemini("Hello there.", 3, { finishReason: "STOP" })),
    writes: inWrites(frameOfGemini),
    end: frameOfGemini(CHUNKS, { finishReason: "STOP" }),
  };
  const chat = { whole, writes, end };

  const stream = ({ writes, end }: typeof chat) => {
    let next = 0;
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const write = writes[next++];
        controller.enqueue(write ?? encoder.encode(end));
        if (write === undefined) controller.close();
        // Waits, so that each write is sent separately.
        else await new Promise((resolve) => setImmediate(resolve));
      },
    });
  };

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const answer = /:\w*[gG]enerateContent/.test(request.url) ? gemini : chat;
      const body = await request.text();
      const isStream = answer === chat ? body.includes('"stream":true') : request.url.includes(":stream");
      const type = { "content-type": isStream ? "text/event-stream" : "application/json" };
      return new Response(isStream ? stream(answer) : answer.whole, { headers: type });
    },
  });
  process.stdout.write(`${server.port}\n`);
}

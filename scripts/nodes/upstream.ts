// The provider of the trial. It answers chats, streams and decisions with the answer to the question, and records its
// charges.

import { answerTo, costOf, DECISION_COST, probabilityOf, questionIn } from "./questions.ts";

export interface TrialUpstream {
  readonly baseUrl: string;
  /** How often each question was answered completely. */
  readonly answered: ReadonlyMap<string, number>;
  /** Streams in progress. */
  open(): number;
  /** The pause between two words of a stream. */
  readonly pace: { ms: number };
  stop(): Promise<void>;
}

/** Starts the provider on a free port. */
export function startTrialUpstream(): TrialUpstream {
  const answered = new Map<string, number>();
  const note = (id: string) => void answered.set(id, (answered.get(id) ?? 0) + 1);
  let open = 0;
  const pace = { ms: 5 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request): Promise<Response> {
      const text = await request.text();
      const id = questionIn(text);
      if (id === undefined) return Response.json({ error: { message: "no question" } }, { status: 400 });
      if (new URL(request.url).pathname.endsWith("/systemone")) {
        note(id);
        return decision(text, id);
      }
      if (!text.includes('"stream":true')) {
        note(id);
        return Response.json(whole(id));
      }
      open += 1;
      const ended = () => {
        open -= 1;
      };
      return new Response(stream(id, { paceMs: () => pace.ms, charged: () => note(id), ended }), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    answered,
    open: () => open,
    pace,
    stop: () => server.stop(true),
  };
}

function usageOf(id: string) {
  const { input, output } = costOf(id);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function whole(id: string) {
  const message = { role: "assistant", content: answerTo(id).join("") };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage: usageOf(id) };
}

function decision(text: string, id: string): Response {
  const { model, questions = {} } = JSON.parse(text) as { model: string; questions?: Record<string, unknown> };
  const answers = Object.fromEntries(
    Object.keys(questions).map((key) => [key, { type: "noul", noul: probabilityOf(id) }]),
  );
  const { input, output } = DECISION_COST;
  return Response.json({ model, answers, usage: { input_tokens: input, output_tokens: output } });
}

interface StreamHooks {
  paceMs(): number;
  /** The frame with the usage was sent. */
  charged(): void;
  ended(): void;
}

function stream(id: string, { paceMs, charged, ended }: StreamHooks): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const frame = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
  const delta = (value: unknown, finish: string | null = null) => [{ index: 0, delta: value, finish_reason: finish }];
  const words = answerTo(id);
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const word = words[at++];
        if (word !== undefined) {
          await Bun.sleep(paceMs());
          controller.enqueue(encoder.encode(frame(delta({ content: word }))));
          return;
        }
        charged();
        const end = frame(delta({}, "stop")) + frame([], { usage: usageOf(id) });
        controller.enqueue(encoder.encode(`${end}data: [DONE]\n\n`));
        ended();
        controller.close();
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  );
}

// A provider that answers, or fails in one of many ways at random, and counts what it has charged. It has the formats
// of chat completions and messages.

import { randomUUID } from "node:crypto";
import { words } from "./random.ts";

/** The provider's reaction to a request. */
export type Deed =
  | "answer"
  | "status"
  | "limited"
  | "garbage"
  | "empty"
  | "cut-early"
  | "cut-late"
  | "error-late"
  | "stall"
  | "hang"
  | "refuse";

/** An answer that was started. It is identified by its id, with which its text begins. */
export interface Told {
  text: string;
  deed: Deed;
  /** Input tokens that were reported before the text, as in the messages format. */
  inputTold?: number | undefined;
  /** What the provider charged for it, once its usage was sent. */
  charged?: Usage;
}

export interface SoakUpstream {
  baseUrl: string;
  /** The answers that were started. Whoever has checked one deletes it. */
  told: Map<string, Told>;
  /** The tokens of the answers that reported their usage. */
  charged: { input: number; output: number; answers: number };
  deeds: Map<Deed, number>;
  /** Requests in progress. */
  open(): number;
  stop(): Promise<void>;
}

/** The probability of each failure; all other requests are answered. */
export type Odds = Readonly<Partial<Record<Deed, number>>>;

/** The text with which a client requests a refusal, and the one for an answer that never ends. */
export const REFUSE = "please refuse";
export const HANG = "please hang";
/** The last words before an endless answer stops sending. */
export const LEAVE = "[[leave]]";

export interface SoakOptions {
  protocol: "openai" | "anthropic";
  odds: Odds;
  random(): number;
  /** The number of words in an answer, and the milliseconds between them. */
  words?: number;
  paceMs?: number;
}

/** Starts the provider on a free port. */
export function startSoakUpstream(options: SoakOptions): SoakUpstream {
  const told = new Map<string, Told>();
  const charged = { input: 0, output: 0, answers: 0 };
  const deeds = new Map<Deed, number>();
  let open = 0;

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as { stream?: boolean };
      const prompt = JSON.stringify(body);
      const deed = pick(prompt, options);
      deeds.set(deed, (deeds.get(deed) ?? 0) + 1);
      const failed = await failureOf(deed, request, options);
      if (failed !== undefined) return failed;
      const id = randomUUID();
      const pieces = [`${id}: `, ...words(options.words ?? 1 + Math.floor(options.random() * 60), options.random)];
      if (deed === "hang") pieces.splice(Math.ceil(pieces.length / 2), pieces.length, LEAVE);
      const usage = { input: 5 + Math.floor(options.random() * 50), output: pieces.length };
      if (body.stream === true) {
        open++;
        const end = once(() => open--);
        const answer: Told = {
          text: pieces.join(""),
          deed,
          inputTold: options.protocol === "anthropic" ? usage.input : undefined,
        };
        told.set(id, answer);
        const frames = stream({ deed, pieces, usage }, { options, charge: () => charge(answer, usage), end });
        return new Response(frames, { headers: { "content-type": "text/event-stream" } });
      }
      const whole = JSON.stringify(wholeAnswer(options.protocol, pieces.join(""), usage));
      if (deed !== "answer") return cut(whole);
      const answer: Told = { text: pieces.join(""), deed };
      told.set(id, answer);
      charge(answer, usage);
      return new Response(whole, { headers: { "content-type": "application/json" } });
    },
  });

  function charge(answer: Told, usage: Usage): void {
    answer.charged = usage;
    charged.input += usage.input;
    charged.output += usage.output;
    charged.answers++;
  }

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    told,
    charged,
    deeds,
    open: () => open,
    stop: () => server.stop(true),
  };
}

interface Usage {
  input: number;
  output: number;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** Sends one frame at a time, so that it is known what was sent. */
function stream(
  { deed, pieces, usage }: { deed: Deed; pieces: string[]; usage: Usage },
  { options, charge, end }: { options: SoakOptions; charge(): void; end(): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const frames = streamFrames(options.protocol, pieces, usage);
  // Failures come after the start and some content, but before the usage is reported.
  const breaksAt =
    deed === "cut-early"
      ? 0
      : deed === "answer"
        ? Number.POSITIVE_INFINITY
        : frames.opening + (deed === "hang" ? pieces.length : Math.ceil(pieces.length / 2));
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (options.paceMs !== undefined) await Bun.sleep(options.paceMs);
        if (at >= breaksAt) {
          if (deed === "hang") return new Promise<void>(() => {});
          // What was sent may not have arrived yet, and a reset would overtake it.
          if (deed === "cut-late") await Bun.sleep(50);
          end();
          if (deed === "error-late") controller.enqueue(encoder.encode(frames.error));
          if (deed === "error-late") return controller.close();
          return controller.error(new Error("cut"));
        }
        const frame = frames.all[at++];
        if (frame === undefined) {
          end();
          return controller.close();
        }
        if (frame.charges) charge();
        controller.enqueue(encoder.encode(frame.text));
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** Chooses the reaction to a request. */
function pick(prompt: string, options: SoakOptions): Deed {
  if (prompt.includes(REFUSE)) return "refuse";
  if (prompt.includes(HANG)) return "hang";
  let mark = options.random();
  for (const [deed, share] of Object.entries(options.odds) as [Deed, number][]) {
    mark -= share;
    if (mark < 0) return deed;
  }
  return "answer";
}

/** The answer for a reaction that fails; undefined for the others. */
async function failureOf(deed: Deed, request: Request, options: SoakOptions): Promise<Response | undefined> {
  switch (deed) {
    case "status":
      return failure(options.random() < 0.5 ? 500 : 503);
    case "limited":
      return failure(429, { "retry-after-ms": "30" });
    case "refuse":
      return failure(400);
    case "garbage":
      return new Response("<html>oops</html>", { headers: { "content-type": "text/html" } });
    case "empty":
      return new Response("");
    case "stall":
      await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
      return new Response("");
    default:
      return undefined;
  }
}

function failure(status: number, headers: Record<string, string> = {}): Response {
  return Response.json({ type: "error", error: { type: "api_error", message: "as asked" } }, { status, headers });
}

/** A body that ends half-way. */
function cut(text: string): Response {
  let sent = false;
  return new Response(
    new ReadableStream(
      {
        pull(controller) {
          if (sent) return controller.error(new Error("cut"));
          sent = true;
          controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)));
        },
      },
      { highWaterMark: 0 },
    ),
    { headers: { "content-type": "application/json" } },
  );
}

type Cost = { input: number; output: number };

function wholeAnswer(protocol: SoakOptions["protocol"], text: string, usage: Cost): unknown {
  if (protocol === "openai") {
    return {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: openaiUsage(usage),
    };
  }
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  };
}

const openaiUsage = ({ input, output }: Cost) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

interface Frame {
  text: string;
  /** This frame reports the usage. */
  charges?: true;
}

function streamFrames(protocol: SoakOptions["protocol"], pieces: string[], usage: Cost) {
  return protocol === "openai" ? openaiFrames(pieces, usage) : anthropicFrames(pieces, usage);
}

function openaiFrames(pieces: string[], usage: Cost): { all: Frame[]; opening: number; error: string } {
  const chunk = (choices: unknown[], more = {}): Frame => ({
    text: `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`,
  });
  const delta = (value: unknown, finish: string | null = null) => [{ index: 0, delta: value, finish_reason: finish }];
  return {
    all: [
      chunk(delta({ role: "assistant", content: "" })),
      ...pieces.map((content) => chunk(delta({ content }))),
      chunk(delta({}, "stop")),
      { ...chunk([], { usage: openaiUsage(usage) }), charges: true },
      { text: "data: [DONE]\n\n" },
    ],
    opening: 1,
    error: `data: ${JSON.stringify({ error: { message: "as asked" } })}\n\n`,
  };
}

function anthropicFrames(pieces: string[], usage: Cost): { all: Frame[]; opening: number; error: string } {
  const event = (type: string, more: object): Frame => ({
    text: `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`,
  });
  const { content: _, ...message } = wholeAnswer("anthropic", "", { input: usage.input, output: 0 }) as {
    content: unknown;
  };
  return {
    all: [
      event("message_start", { message: { ...message, content: [], stop_reason: null } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...pieces.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
      event("content_block_stop", { index: 0 }),
      {
        ...event("message_delta", {
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: usage.output },
        }),
        charges: true,
      },
      event("message_stop", {}),
    ],
    opening: 2,
    error: event("error", { error: { type: "overloaded_error", message: "as asked" } }).text,
  };
}

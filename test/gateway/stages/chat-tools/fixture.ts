// A gateway with a search engine whose pages stand on loopback, and an upstream that searches when it is told to.

import { startTestApp } from "../../../support/app.ts";
import { page } from "../../../support/fake-site.ts";
import { chatAnswer, chatChunk, HANG, type Received, sse, startUpstream } from "../../../support/upstream.ts";
import { startSearchSite } from "../../../web/search-site.ts";
import { webConfig } from "../../../web/support.ts";

/** A call that the model makes. */
export interface ModelCall {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
}

/** What the model does in each round: it calls tools, or answers, or does not end its answer. */
export type ModelRound = { readonly say?: string; readonly calls?: readonly ModelCall[]; readonly hangs?: true };

const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

/** Starts all of it. */
export async function startToolsApp(more: Record<string, unknown> = {}) {
  const site = startSearchSite({ "/rye": page("Rye"), "/oats": page("Oats") });
  site.set("/rye", () =>
    htmlOf("Rye", "Rye is a grass that is grown as a grain. It survives cold winters. Bakers like it."),
  );
  site.set("/oats", () => htmlOf("Oats", "Oats are eaten by horses. People in Scotland cook porridge of them."));
  site.lists("searxng", [
    { url: `${site.url}/rye`, title: "Rye" },
    { url: `${site.url}/oats`, title: "Oats" },
  ]);
  const upstream = startUpstream();
  const config = (extra: Record<string, unknown> = {}) => ({
    ...webConfig([site.host]),
    ...site.config(["searxng"]),
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }], prices: { input: 1, output: 2 } }],
    ...more,
    ...extra,
  });
  const app = await startTestApp({ config: config() });
  /** Lets the model do one thing after another; the last one for all further requests. */
  const plays = (...rounds: readonly ModelRound[]) => {
    let at = 0;
    upstream.received.length = 0;
    upstream.answer((received) => answerOf(received, rounds[Math.min(at++, rounds.length - 1)]!));
  };
  return {
    site,
    upstream,
    app,
    config,
    plays,
    async stop() {
      await app.stop();
      upstream.stop();
      await site.stop();
    },
  };
}

function htmlOf(title: string, text: string): Response {
  const body = `<html><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
  return new Response(body, { headers: { "content-type": "text/html" } });
}

let calls = 0;

function answerOf({ json }: Received, { say = "", calls: made = [], hangs }: ModelRound): Response {
  const tool_calls = made.map(({ name, input, id }, index) => ({
    index,
    id: id ?? `call_${++calls}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const finish = made.length > 0 ? "tool_calls" : "stop";
  if (json?.["stream"] !== true) {
    const message = { content: say, ...(made.length > 0 ? { tool_calls } : {}) };
    return chatAnswer(message, { finish, extra: { usage: USAGE } });
  }
  const letters = [...say];
  const stops: (typeof HANG)[] = hangs === true ? [HANG] : [];
  return sse([
    chatChunk({ role: "assistant", content: "" }),
    ...letters.map((letter) => chatChunk({ content: letter })),
    ...stops,
    ...tool_calls.map((call) => chatChunk({ tool_calls: [call] })),
    chatChunk({}, { finish }),
    chatChunk(null, { usage: USAGE }),
    "data: [DONE]\n\n",
  ]);
}

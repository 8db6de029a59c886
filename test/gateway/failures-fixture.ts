// Providers of several kinds with scripted upstreams, and short helpers. The tests of publicly reported failures share them.

import { expect } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type Said, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat } from "../support/heard.ts";
import { sse, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const format = (name: string) => CLIENT_FORMATS.find((one) => one.name === name) as ClientFormat;
/** The client formats. */
export const chat = format("openai-chat");
export const responses = format("openai-responses");
export const messages = format("anthropic-messages");

/** Starts the program, its upstreams and the clients. */
export async function startFailures() {
  const upstream = startUpstream();
  const spare = startUpstream();
  const provider = (kind: string, more: Json = {}) => ({
    kind,
    base_url: upstream.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures: 1000 },
    ...more,
  });
  const PROVIDERS = {
    chat: provider("openai"),
    responses: provider("openai-responses"),
    claude: provider("anthropic"),
    deepseek: provider("openai", { quirks: { return_reasoning_content: true } }),
    strict: provider("openai", { quirks: { stream_options: false } }),
    spare: provider("openai", { base_url: spare.baseUrl }),
    fragile: provider("openai", { breaker: { failures: 2, window: "30s", cooldown: "60s" } }),
  };
  const config = {
    providers: PROVIDERS,
    models: [
      ...Object.keys(PROVIDERS).map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
      {
        id: "two",
        routes: [
          { provider: "chat", model: "up-model", priority: 1 },
          { provider: "spare", model: "up-model", priority: 2 },
        ],
      },
    ],
  };
  const app: TestApp = await startTestApp({ config: { ...config, tiers: { premium: { rpm: 100_000 } } } });

  return {
    app,
    config,
    upstream,
    spare,
    /** Sends a request in a format and reads the stream. */
    async stream(of: ClientFormat, model: string, more: Json = {}): Promise<string> {
      const response = await app.post(of.path, { ...of.body({ stream: true, tools: true }), model, ...more });
      expect(response.status).toBe(200);
      return response.text();
    },
    /** Sets the upstream's next answers. They use the protocol of each request. */
    scripted: (said: Said) => upstream.answer((received) => say(received, said)),
    /** Sets the upstream's next streams, byte for byte. */
    raw: (...pieces: Parameters<typeof sse>[0]) => upstream.answer(() => sse(pieces)),
    /** The first request since the last `forget`. */
    sent: () => upstream.received[0]?.json ?? {},
    forget() {
      upstream.received.length = 0;
      spare.received.length = 0;
    },
    async stop() {
      await app.stop();
      upstream.stop();
      spare.stop();
    },
  };
}

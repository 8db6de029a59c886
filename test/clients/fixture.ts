// The running program with a scripted model behind every upstream protocol, for the tests of real clients. The model
// calls the tool that it is given, reports the tool's result, and answers in JSON if a schema is requested.

import { DIALECTS, KINDS, type Said, say } from "../support/fake-model.ts";
import { type Program, startProgram } from "../support/program.ts";
import { type FakeUpstream, type Received, startUpstream } from "../support/upstream.ts";

/** The result of the tests' tool, which the model repeats. */
export const WEATHER = "4 degrees and sunny";
/** The model's answer without tools. */
export const GREETING = "Hello from 東京 👋";
/** The object that the model returns if a schema is requested. */
export const FORECAST = { city: "Oslo", degrees: 4 };
/** The reasoning before its call. */
export const THOUGHT = { text: "I should look it up.", signature: "c2lnbmF0dXJlLW9mLXRoZS1tb2RlbA==" };

export interface Clients {
  app: Program;
  upstream: FakeUpstream;
  /** The ids of the models. Each is served in the protocol of its name. */
  models: readonly string[];
  /** Returns the bodies of the calls so far, and discards them. */
  sent(): Received[];
}

/** Starts both. Stop them with `stopClients`. */
export async function startClients(): Promise<Clients> {
  const upstream = startUpstream((received) =>
    received.path.endsWith("/count_tokens") ? Response.json({ input_tokens: 321 }) : say(received, reply(received)),
  );
  const app = await startProgram({
    providers: Object.fromEntries(
      DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    models: DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: "up-model" }] })),
    tiers: { premium: { rpm: 100_000 } },
  });
  return { app, upstream, models: DIALECTS, sent: () => upstream.received.splice(0) };
}

export async function stopClients({ app, upstream }: Clients): Promise<void> {
  await app.stop();
  upstream.stop();
}

function reply({ text, json }: Received): Said {
  const split = 11;
  if (text.includes(WEATHER))
    return { text: `It is ${WEATHER} in Oslo.`, split, usage: { input: 60, output: 12, cached: 40 } };
  // Some clients request an object with a tool of this name.
  if (text.includes('"name":"json"')) return { calls: [{ id: "call_json", name: "json", args: FORECAST }], split };
  // If the protocol has no parameter for a schema, the prompt describes it.
  if (/json_schema|JsonSchema|JSON Schema/.test(text) && !text.includes("weather")) {
    return { text: JSON.stringify(FORECAST), split };
  }
  if (text.includes('"break"')) return { text: GREETING, split, breaks: { after: 3, with: "end" } };
  if (text.includes('"cut"')) return { text: GREETING, split, cut: true };
  // Some clients send an empty list instead of none.
  if (Array.isArray(json?.["tools"]) && json["tools"].length > 0) {
    return { reasoning: THOUGHT, calls: [{ id: "call_weather", name: "weather", args: { city: "Oslo" } }], split };
  }
  return { text: GREETING, split, usage: { input: 20, output: 9 } };
}

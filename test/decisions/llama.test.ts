import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startEngine } from "./llama-engine.ts";
import { type Gateway, startGateway } from "./support.ts";

const engine = await startEngine();
if (typeof engine === "string") console.warn(`llama.cpp does not run here, its tests are skipped: ${engine}`);

describe.skipIf(typeof engine === "string")("a real engine, optional", () => {
  const real = engine as Exclude<typeof engine, string>;
  let gateway: Gateway;
  let key: string;

  beforeAll(async () => {
    const routes = [{ provider: "local", model: "random" }];
    gateway = await startGateway({
      providers: { local: { kind: "openai", preset: "llamacpp", base_url: real.url, discover: false } },
      decisions: {
        models: [
          // The weights are random, so any token may be the most probable one.
          { id: "letters-1.0.0", backend: { kind: "logprobs", prior: "none", routes, min_label_mass: 0 } },
          {
            id: "chosen-1.0.0",
            backend: { kind: "logprobs", prior: "none", routes, limits: { chosen_tokens: 255 }, min_label_mass: 0 },
          },
        ],
      },
    });
    key = await gateway.key();
  });

  afterAll(async () => {
    await gateway.stop();
    await real.stop();
  });

  beforeEach(() => {
    real.said.clear();
    real.calls.length = 0;
  });

  const decide = async (question: unknown, model = "letters-1.0.0") => {
    const asked = { model, state: "The kettle is on.", questions: { q: question } };
    const { status, body } = await gateway.post("/v1/systemone", asked, key);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.answers.q;
  };
  const lines = (prompt: string) =>
    [...prompt.matchAll(/^([A-Z]{1,2})\. (.*)$/gm)].map(([, label, text]) => [label!, text!]);
  /** The engine's own scores of the options, averaged over the orders in which they were shown. */
  const meant = (shown: number) => {
    const scores: Record<string, number> = {};
    for (const [prompt, said] of real.said) {
      for (const [label, text] of lines(prompt)) {
        const p = said
          .slice(0, shown)
          .reduce((sum, { token, logprob }) => sum + (token.trim() === label ? Math.exp(logprob) : 0), 0);
        scores[text!] = (scores[text!] ?? 0) + Math.log(p) / real.said.size;
      }
    }
    const total = Object.values(scores).reduce((sum, score) => sum + Math.exp(score), 0);
    return Object.fromEntries(Object.entries(scores).map(([text, score]) => [text, Math.exp(score) / total]));
  };

  test("yes or no follows from its letter probabilities, in both orders", async () => {
    const { noul } = await decide({ type: "noul", instructions: "Is the water hot?" });
    expect(real.said.size).toBe(2);
    expect(noul).toBeCloseTo(meant(20)["Yes"]!, 6);
    // The same question gives the same answer again.
    expect((await decide({ type: "noul", instructions: "Is the water hot?" })).noul).toBe(noul);
  });

  test("a choice, and the same one with rotated options", async () => {
    const criteria = { tea: null, coffee: null, soup: null };
    const one = await decide({ type: "choice", criteria });
    const expected = meant(20);
    for (const name of Object.keys(criteria)) expect(one.probabilities[name]).toBeCloseTo(expected[name]!, 6);
    const two = await decide({ type: "choice", criteria: { soup: null, coffee: null, tea: null } });
    for (const name of Object.keys(criteria)) expect(two.probabilities[name]).toBeCloseTo(one.probabilities[name], 6);
  });

  test("a score is between its levels", async () => {
    const { score, probabilities } = await decide({ type: "score", criteria: ["cold", "warm", "hot"] });
    expect(score).toBeCloseTo(probabilities.warm + 2 * probabilities.hot, 9);
  });

  const options = Array.from({ length: 60 }, (_, at) => `item${at}`);
  const many = { type: "choice", criteria: Object.fromEntries(options.map((name) => [name, null])) };
  const sum = (probabilities: Record<string, number>) => Object.values(probabilities).reduce((all, p) => all + p, 0);

  test("many options in groups", async () => {
    const { probabilities } = await decide(many);
    expect(Object.keys(probabilities)).toEqual(options);
    expect(sum(probabilities)).toBeCloseTo(1, 9);
    expect(real.said.size).toBe(10);
  });

  test("many options in one call, with labels of one token", async () => {
    const { probabilities } = await decide(many, "chosen-1.0.0");
    expect(sum(probabilities)).toBeCloseTo(1, 9);
    expect(real.said.size).toBe(2);
    const expected = meant(2000);
    expect(Object.keys(expected)).toHaveLength(60);
    for (const name of options) expect(probabilities[name]).toBeCloseTo(expected[name]!, 6);
  });
});

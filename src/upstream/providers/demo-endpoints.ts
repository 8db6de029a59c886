// The built-in provider's answers for models that do not chat. They are simple but meaningful: texts that share more words have
// closer vectors, and rank higher.

import { countTokens } from "../../tokens/count.ts";
import { demoImageEdits, demoImages } from "./demo-image.ts";
import { demoSpeech } from "./demo-speak.ts";
import { demoTranscription } from "./demo-transcribe.ts";

type Json = Readonly<Record<string, unknown>>;

const DIMENSIONS = 256;

/** The handler of an address; undefined for chat completions. */
export function demoEndpoint(url: string): ((init: BunFetchRequestInit) => Response | Promise<Response>) | undefined {
  for (const [path, answer] of Object.entries(ANSWERS)) if (url.endsWith(path)) return answer;
  return undefined;
}

const json =
  (answer: (body: Json) => Response) =>
  ({ body }: BunFetchRequestInit) =>
    answer(JSON.parse(String(body)) as Json);

const ANSWERS: Readonly<Record<string, NonNullable<ReturnType<typeof demoEndpoint>>>> = {
  "/embeddings": json(embeddings),
  "/rerank": json(rerank),
  "/systemone": async ({ body }) => {
    const { demoDecisions } = await import("./demo-decide.ts");
    return demoDecisions(JSON.parse(String(body)) as Json);
  },
  "/audio/transcriptions": demoTranscription,
  "/audio/translations": demoTranscription,
  "/audio/speech": json(demoSpeech),
  "/images/generations": json(demoImages),
  "/images/edits": demoImageEdits,
};

function embeddings({ model, input, dimensions }: Json): Response {
  // A list of numbers is a single tokenised text.
  const isOne = typeof input === "string" || typeof (input as readonly unknown[])[0] === "number";
  const inputs = isOne ? [input] : (input as readonly unknown[]);
  const size = typeof dimensions === "number" ? Math.min(dimensions, DIMENSIONS) : DIMENSIONS;
  const data = inputs.map((one, index) => ({ object: "embedding", index, embedding: vectorOf(wordsOf(one), size) }));
  const tokens = inputs.reduce<number>((sum, one) => sum + tokensOf(one), 0);
  return Response.json({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function rerank({ model, query, documents }: Json): Response {
  const texts = (documents as readonly (string | { text: string })[]).map((one) =>
    typeof one === "string" ? one : one.text,
  );
  const asked = vectorOf(wordsOf(query), DIMENSIONS);
  const results = texts
    .map((text, index) => ({ index, relevance_score: cosine(asked, vectorOf(wordsOf(text), DIMENSIONS)) }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  const tokens = [String(query), ...texts].reduce((sum, text) => sum + countTokens(text), 0);
  return Response.json({ model, results, usage: { total_tokens: tokens } });
}

function tokensOf(input: unknown): number {
  return typeof input === "string" ? countTokens(input) : (input as readonly unknown[]).length;
}

/** The words of an input. Tokens given as numbers count as words. */
function wordsOf(input: unknown): readonly string[] {
  if (typeof input !== "string") return (input as readonly number[]).map(String);
  return input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The counts of words, hashed to dimensions and normalised. A text without words has a fixed vector. */
function vectorOf(words: readonly string[], size: number): number[] {
  const vector = new Array<number>(size).fill(0);
  for (const word of words.length === 0 ? [""] : words) {
    const at = Number(Bun.hash.xxHash64(word) % BigInt(size));
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

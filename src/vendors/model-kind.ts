// Kinds of model. If neither the configuration nor the provider says the kind, it is read from the model's name.

/** The kinds of model that the catalog holds. Decision models have a list of their own. */
export const MODEL_KINDS = ["chat", "embedding", "rerank", "transcription", "speech", "image"] as const;

/** The kind of a model. */
export type ModelKind = (typeof MODEL_KINDS)[number];

/** `other`: a kind without any endpoint here (video, moderation, realtime speech, base models). */
export type ListedKind = ModelKind | "other";

/** Words in model ids, by kind. The first match applies. */
const WORDS: readonly (readonly [kind: ListedKind, words: RegExp])[] = [
  ["other", /realtime|moderation|prompt-guard|llama-guard|(?:^|[-/])(?:veo|sora|lyria)|davinci|babbage|aqa$/],
  ["rerank", /rerank/],
  ["embedding", /embed|(?:^|\/)(?:voyage-|jina-clip)/],
  ["transcription", /whisper|transcri|(?:^|\/)scribe/],
  ["speech", /(?:^|[-/])tts|playai/],
  ["image", /dall-e|(?:gpt|chatgpt|grok[-\d]*)-(?:image|imagine)|imagen|stable-diffusion|flux/],
];

/** The kind that an id names; undefined if it names none, as the ids of chat models do. */
export function kindByName(id: string): ListedKind | undefined {
  const name = id.toLowerCase();
  return WORDS.find(([, words]) => words.test(name))?.[0];
}

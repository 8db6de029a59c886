// What a model is for. Where nobody says it, its name does: vendors put the same words in them.

/** The kinds of model that the catalog holds. Decision models have a list of their own. */
export const MODEL_KINDS = ["chat", "embedding", "rerank", "transcription", "speech", "image"] as const;

/** What a model is for. */
export type ModelKind = (typeof MODEL_KINDS)[number];

/** `other`: made for something that no endpoint here does (video, moderation, live speech, plain continuation). */
export type ListedKind = ModelKind | "other";

/** Words of ids, by kind. The first that fits has it. */
const WORDS: readonly (readonly [kind: ListedKind, words: RegExp])[] = [
  ["other", /realtime|moderation|prompt-guard|llama-guard|(?:^|[-/])(?:veo|sora|lyria)|davinci|babbage|aqa$/],
  ["rerank", /rerank/],
  ["embedding", /embed/],
  ["transcription", /whisper|transcri/],
  ["speech", /(?:^|[-/])tts|playai/],
  ["image", /dall-e|(?:gpt|chatgpt|grok[-\d]*)-(?:image|imagine)|imagen|stable-diffusion|flux/],
];

/** What an id says its model is for; undefined where it says nothing, as those of chat models do. */
export function kindByName(id: string): ListedKind | undefined {
  const name = id.toLowerCase();
  return WORDS.find(([, words]) => words.test(name))?.[0];
}

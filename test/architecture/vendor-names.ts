// The rule that keeps facts about vendors in one place: outside src/vendors, no code names a vendor, its domains, its
// environment variables or its families of models.

import { VENDORS } from "../../src/vendors/index.ts";
import type { Finding, Rule } from "./rules.ts";
import { codeOf, remembered } from "./source.ts";

/** Places where a word that is also a vendor's name has another meaning. */
export const ALLOWED: readonly { readonly path: RegExp; readonly words: readonly string[]; readonly why: string }[] = [
  { path: /^src\/dashboard\/ui\//, words: ["openai", "codex", "demo", "OPENAI_API_KEY"], why: "examples for people" },
  { path: /^src\/chat\/seals\.ts$/, words: ["gemini"], why: "the name of a protocol" },
  { path: /^src\/upstream\/dialects\/gemini\//, words: ["gemini"], why: "the name of a protocol" },
  { path: /^src\/wire\/gemini\/format\.ts$/, words: ["gemini"], why: "the name of a protocol" },
  { path: /^src\/wire\/chat-completions\/details\.ts$/, words: ["gemini"], why: "the name of a protocol" },
  { path: /^src\/upstream\/providers\/demo-sample\.ts$/, words: ["demo"], why: "what it writes into texts" },
  { path: /^src\/upstream\/providers\/index\.ts$/, words: ["demo"], why: "the code behind an embedded provider" },
  { path: /^src\/catalog\/(?:models|from-config)\.ts$/, words: ["demo"], why: "a property of the catalog's providers" },
  {
    path: /^src\/catalog\/endpoints\/(?:audio-formats|embeddings|rerank)\.ts$/,
    words: ["elevenlabs", "deepgram", "voyage", "jina", "cohere"],
    why: "the names of formats, as the quirks have them",
  },
  {
    path: /^src\/(?:accounts\/openapi|config\/schema-accounts|dashboard\/server\/routes)\.ts$/,
    words: ["github"],
    why: "a provider of sign-in",
  },
  {
    path: /^src\/(?:search\/engines\/(?:github|hugging-face)|web\/firecrawl\/search)\.ts$/,
    words: ["github", "huggingface.co"],
    why: "a place to search",
  },
  { path: /^src\/config\/schema-web\.ts$/, words: ["ollama"], why: "the name of a format" },
  { path: /^src\/catalog\/routes\.ts$/, words: ["anthropic"], why: "a family of clients" },
];

/** Words that name a vendor if they are a whole string or key. */
const WORDS = new Set(
  VENDORS.flatMap(({ name, title, api, families = [] }) => [
    name,
    title.toLowerCase(),
    ...(api?.traceName === undefined ? [] : [api.traceName]),
    ...families.map((family) => family.name),
  ]),
);
const VARIABLES = VENDORS.flatMap(({ api }) => (api?.variable === undefined ? [] : [api.variable.name]));
const DOMAINS = VENDORS.flatMap(({ api }) => api?.domains ?? []).map((domain) => ({
  domain,
  // The domain may also be part of a regular expression, with escaped dots.
  pattern: new RegExp(`(?<![\\w-])${domain.replaceAll(".", "\\\\?\\.")}(?![\\w.-])`),
}));

const TEXT = /(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
const KEY = /(?:^|[{,])\s*(\w+)\s*:/g;

/** The rule that no code outside src/vendors names a vendor. */
export const vendorNames: Rule = {
  name: "only vendors names a vendor",
  check(files): Finding {
    const read = [...files].filter(([path]) => path.startsWith("src/"));
    const violations = read
      .filter(([path]) => !path.startsWith("src/vendors/"))
      .flatMap(([path, text]) =>
        namedIn(text)
          .filter(({ word }) => !isAllowed(path, word))
          .map(({ word, line }) => `${path}:${line}: names ${word}, which belongs in src/vendors`),
      );
    return { looked: read.length, violations };
  },
};

/** The vendors' words in a file, each with its line. */
export function namedIn(text: string): readonly { word: string; line: number }[] {
  return namedInText("", text);
}

const namedInText = remembered((_path, text) =>
  codeOf(text)
    .split("\n")
    .flatMap((code, index) => wordsIn(code).map((word) => ({ word, line: index + 1 }))),
);

function wordsIn(code: string): string[] {
  const texts = [...code.matchAll(TEXT)].map((match) => (match[2] ?? "").toLowerCase());
  const keys = [...code.replace(TEXT, '""').matchAll(KEY)].map((match) => match[1] ?? "");
  return [
    ...[...texts, ...keys].filter((word) => WORDS.has(word)),
    ...VARIABLES.filter((variable) => code.includes(variable)),
    ...DOMAINS.filter(({ pattern }) => pattern.test(code)).map(({ domain }) => domain),
  ];
}

function isAllowed(path: string, word: string): boolean {
  return ALLOWED.some((one) => one.path.test(path) && one.words.includes(word));
}

// MDN Web Docs.

import { entryOf } from "../../base/json-object.ts";
import { address, jsonHeaders, pageSize, primaryLanguage } from "../address.ts";
import type { EngineContext, SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";
import { webAddress } from "../reading/text.ts";

const SITE = "https://developer.mozilla.org";
const LOCALES: Readonly<Record<string, string>> = {
  en: "en-US",
  de: "de",
  es: "es",
  fr: "fr",
  ja: "ja",
  ko: "ko",
  pt: "pt-BR",
  ru: "ru",
  zh: "zh-CN",
};

export const mdn: SearchEngine = {
  name: "mdn",
  categories: ["it"],
  about: { website: SITE, official: true },
  enabledByDefault: true,
  network: "mdn",
  timeoutMs: 5000,
  pagesMax: 10,
  languages: Object.keys(LOCALES),
  safeSearch: true,
  selectors: { results: "documents", title: "title", path: "mdn_url", snippet: "summary" },
  request(context) {
    const url = address(context, SITE, "/api/v1/search", {
      q: context.query.text,
      page: context.query.page,
      size: pageSize(context, 20),
      locale: localeOf(context),
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    readJsonAnswer(response, context, {
      engine: mdn,
      draft: (fields) => ({ url: webAddress(fields.literal("path"), SITE), title: fields.literal("title") }),
    }),
};

function localeOf(context: EngineContext): string {
  if (/^zh-(?:TW|HK|Hant)/i.test(context.query.language ?? "")) return "zh-TW";
  return entryOf(LOCALES, primaryLanguage(context) ?? "en") ?? "en-US";
}

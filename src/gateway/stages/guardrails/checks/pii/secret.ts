// API keys, by the beginnings that their issuers give them so that they are recognised.

import type { TextCheck } from "../check.ts";

/** The most characters behind a beginning. */
const REST_MAX = 230;

/** How keys begin, the characters that follow, and how many at least. */
const KEYS: readonly { readonly begins: string; readonly chars: string; readonly least: number }[] = [
  ...[
    "sk-",
    "gsk_",
    "xai-",
    "pplx-",
    "hf_",
    "nvapi-",
    "csk-",
    "fw_",
    "tgp_v1_",
    "r8_",
    "jina_",
    "voyage-",
    "pa-",
    "co-",
  ].map((begins) => ({
    begins,
    chars: "[\\w-]",
    least: begins === "pa-" || begins === "co-" || begins === "voyage-" ? 40 : 20,
  })),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"].map((begins) => ({ begins, chars: "[A-Za-z\\d]", least: 36 })),
  { begins: "github_pat_", chars: "\\w", least: 22 },
  ...["glpat-", "pypi-", "dop_v1_", "tvly-", "fc-", "lin_api_", "dckr_pat_", "figd_", "sntrys_"].map((begins) => ({
    begins,
    chars: "[\\w-]",
    least: 20,
  })),
  ...["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-"].map((begins) => ({
    begins,
    chars: "[A-Za-z\\d-]",
    least: 20,
  })),
  ...["AKIA", "ASIA"].map((begins) => ({ begins, chars: "[A-Z\\d]", least: 16 })),
  { begins: "AIza", chars: "[\\w-]", least: 35 },
  { begins: "AQ.", chars: "[\\w-]", least: 30 },
  { begins: "ya29.", chars: "[\\w.-]", least: 20 },
  ...["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "whsec_"].map((begins) => ({
    begins,
    chars: "[A-Za-z\\d]",
    least: 16,
  })),
  ...["shpat_", "shpca_", "shppa_", "shpss_"].map((begins) => ({ begins, chars: "[A-Fa-f\\d]", least: 32 })),
  { begins: "SG.", chars: "[\\w.-]", least: 40 },
];

const KEY = new RegExp(
  `(?<![A-Za-z\\d])(?:${KEYS.map(({ begins, chars, least }) => `${escaped(begins)}${chars}{${least},${REST_MAX}}`).join("|")})`,
  "gu",
);
const FIRST = new Set(KEYS.map(({ begins }) => begins[0]));
/** Keys so short that some have no digit, of letters that no name has. */
const PLAIN = /^A[KS]IA[A-Z2-7]{16}$/;
const LETTER = /[A-Za-z\d]/;
/** All characters of keys. */
const RUN = /[\w.-]{1,250}$/;

/** The check. */
export const secretCheck: TextCheck = {
  longest: REST_MAX + 16,
  next(text, from) {
    KEY.lastIndex = from;
    for (let found = KEY.exec(text); found !== null; found = KEY.exec(text)) {
      // Names of variables and of packages may begin like keys, but have no digits, or no letters.
      const key = found[0].replace(/[.-]+$/, "");
      if ((/\d/.test(key) || PLAIN.test(key)) && /[A-Za-z]/.test(key))
        return { start: found.index, end: found.index + key.length, label: "SECRET" };
    }
    return undefined;
  },
  open(text, from) {
    const run = RUN.exec(text.slice(Math.max(from, text.length - this.longest)))?.[0] ?? "";
    for (let start = text.length - run.length; start < text.length; start++) {
      if (FIRST.has(text[start]) && !LETTER.test(text[start - 1] ?? "") && mayBegin(text.slice(start))) return start;
    }
    return text.length;
  },
};

function mayBegin(rest: string): boolean {
  return KEYS.some(({ begins }) => (rest.length < begins.length ? begins.startsWith(rest) : rest.startsWith(begins)));
}

function escaped(text: string): string {
  return text.replaceAll(".", "\\.");
}

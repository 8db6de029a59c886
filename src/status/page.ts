// The public status page: HTML without scripts and external resources. It shows only what the public status and
// statistics endpoints return.

import { lazily } from "../base/lazily.ts";
import { HEALTH_DAYS, type HealthDay } from "./health-days.ts";
import type { ModelHealthView, ModelStatus } from "./model-health.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** What the page shows. */
export interface StatusPageFacts {
  readonly nowMs: number;
  readonly version: string;
  readonly uptimeSeconds: number;
  /** The operator's text, during maintenance. */
  readonly maintenance: string | undefined;
  readonly models: ModelHealthView;
  /** A model's days, oldest first. */
  daysOf(model: string): readonly (HealthDay | undefined)[];
  readonly totals: { readonly total_tokens: number; readonly requests: number; readonly since: string | null };
  readonly leaderboard: {
    readonly models: readonly { readonly model_id: string; readonly total_tokens: number; readonly requests: number }[];
    readonly users: readonly { readonly rank: number; readonly user: string; readonly total_tokens: number }[];
  };
}

const DAY_MS = 86_400_000;
const LEADERS_MAX = 10;
/** The limit of models that are shown; the least healthy come first. */
const MODELS_SHOWN = 200;
/** The shares of a day's checks that determine the day's colour. */
const BAD_SHARE = 0.05;
const DOUBTFUL_SHARE = 0.01;

const STYLE_HASH = new Bun.CryptoHasher("sha256").update(PAGE_STYLE).digest("base64");
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** The page as a response. */
export function statusPage(facts: StatusPageFacts): Response {
  return new Response(statusHtml(facts), { headers: HEADERS });
}

/** The page as text. */
export function statusHtml(facts: StatusPageFacts): string {
  const { models } = facts.models;
  const verdict = verdictOf(facts);
  const sorted = [...models].sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${verdict.mark} ${escaped(verdict.text)} · Status</title>
<link rel="icon" href="${iconOf(verdict.kind)}">
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>Status</h1>
<p class="verdict ${verdict.kind}"><span aria-hidden="true">${verdict.mark}</span> ${escaped(verdict.text)}</p>
<p class="hint">Version ${escaped(facts.version)}, up for ${lasting(facts.uptimeSeconds)}. Checked ${timeOf(facts.models.refreshed_at)}. <a href="/status">Check again</a></p>
${modelsSection(facts, sorted)}
${totalsSection(facts)}
</main>
</body>
</html>
`;
}

const WORST_FIRST: readonly ModelStatus[] = ["unavailable", "degraded", "unknown", "healthy"];
const MARKS = { ok: "✓", warn: "⚠", danger: "✕", none: "◌" } as const;
const KINDS: Readonly<Record<ModelStatus, keyof typeof MARKS>> = {
  healthy: "ok",
  degraded: "warn",
  unavailable: "danger",
  unknown: "none",
};
const WORDS: Readonly<Record<ModelStatus, string>> = {
  healthy: "OK",
  degraded: "Degraded",
  unavailable: "Unavailable",
  unknown: "Unknown",
};

function verdictOf({ models: { models, refreshed_at: at }, maintenance }: StatusPageFacts) {
  const say = (kind: keyof typeof MARKS, text: string) => ({ kind, text, mark: MARKS[kind] });
  if (maintenance !== undefined) return say("warn", maintenance || "Under maintenance");
  if (at === null) return say("none", "The models have not been checked yet");
  if (models.length === 0) return say("none", "No models are offered");
  const count = (status: ModelStatus) => models.filter((model) => model.status === status).length;
  const [down, degraded] = [count("unavailable"), count("degraded")];
  const of = models.length === 1 ? "The model" : `${down || degraded} of ${models.length} models`;
  if (down > 0) return say("danger", `${of} ${down === 1 ? "is" : "are"} unavailable`);
  if (degraded > 0) return say("warn", `${of} ${degraded === 1 ? "is" : "are"} degraded`);
  const unknown = count("unknown");
  if (unknown === models.length)
    return say(
      "none",
      models.length === 1 ? "The health of the model is unknown" : "The health of the models is unknown",
    );
  if (unknown > 0) {
    const known = models.length - unknown;
    return say(
      "ok",
      `${known} of ${models.length} models ${known === 1 ? "answers" : "answer"}; the others are unknown`,
    );
  }
  return say("ok", models.length === 1 ? "The model answers" : `All ${models.length} models answer`);
}

function modelsSection({ daysOf, nowMs }: StatusPageFacts, models: ModelHealthView["models"]): string {
  if (models.length === 0) return "";
  const rows = models.slice(0, MODELS_SHOWN).map((model) => {
    const days = daysOf(model.id);
    const kind = KINDS[model.status];
    const p50 = model.latency_p50_ms === undefined ? "" : ` · median ${milliseconds(model.latency_p50_ms)}`;
    return `<li>
<div class="name"><code>${escaped(model.id)}</code> <span class="badge ${kind}"><span aria-hidden="true">${MARKS[kind]}</span> ${WORDS[model.status]}</span></div>
${barOf(days)}
<p class="hint">${summaryOf(days)}${p50}</p>
</li>`;
  });
  const more = models.length - MODELS_SHOWN;
  const rest = more > 0 ? `<p class="hint">And ${number(more)} more that do no worse than these.</p>` : "";
  return `<section aria-labelledby="models">
<h2 id="models">Models</h2>
<p class="legend"><span><i class="key ok"></i> Fine</span> <span><i class="key warn"></i> Some checks failed</span> <span><i class="key danger"></i> Unavailable for a while</span> <span><i class="key none"></i> Unknown</span></p>
<ul class="models">
${rows.join("\n")}
</ul>
<p class="ends"><span>${dayOf(nowMs - (HEALTH_DAYS - 1) * DAY_MS)}</span><span>${dayOf(nowMs)} (UTC)</span></p>
${rest}
</section>`;
}

type Day = HealthDay | undefined;

function kindOf(day: Day): keyof typeof MARKS {
  if (day === undefined) return "none";
  const all = day.healthy + day.degraded + day.unavailable;
  if (day.unavailable / all >= BAD_SHARE) return "danger";
  return (day.unavailable + day.degraded) / all >= DOUBTFUL_SHARE ? "warn" : "ok";
}

/** One column for each day; a path for each colour, so that the page stays small with many models. */
function barOf(days: readonly Day[]): string {
  const paths = (["ok", "warn", "danger", "none"] as const).map((kind) => {
    // Worse days have taller columns, since not everyone can see the colours.
    const top = { ok: 8, warn: 4, danger: 0, none: 20 }[kind];
    const columns = days.flatMap((day, at) => (kindOf(day) === kind ? [`M${at * 4} ${top}h3V28h-3z`] : []));
    return columns.length === 0 ? "" : `<path class="${kind}" d="${columns.join("")}"/>`;
  });
  return `<svg viewBox="0 0 ${days.length * 4 - 1} 28" preserveAspectRatio="none" role="img" aria-label="${summaryOf(days)}">${paths.join("")}</svg>`;
}

function summaryOf(days: readonly Day[]): string {
  const known = days.filter((day) => day !== undefined);
  if (known.length === 0) return "No earlier days are known";
  const sum = (of: keyof HealthDay) => known.reduce((all, day) => all + day[of], 0);
  const all = sum("healthy") + sum("degraded") + sum("unavailable");
  const share = ((all - sum("unavailable")) / all) * 100;
  // Rounded down, so that 99.96 is not shown as 100.
  const text = share === 100 ? "100" : (Math.floor(share * 100) / 100).toFixed(2);
  return `${text} % available over ${known.length === 1 ? "1 day" : `${known.length} days`}`;
}

function totalsSection({ totals, leaderboard }: StatusPageFacts): string {
  const since = totals.since === null ? "" : ` since ${dayOf(Date.parse(totals.since))}`;
  const models = leaderboard.models
    .slice(0, LEADERS_MAX)
    .map((one) => row(`<code>${escaped(one.model_id)}</code>`, one.requests, one.total_tokens));
  const users = leaderboard.users
    .slice(0, LEADERS_MAX)
    .map((one) => row(`<code>${escaped(one.user)}</code>`, undefined, one.total_tokens));
  return `<section aria-labelledby="totals">
<h2 id="totals">Totals</h2>
<p>${number(totals.requests)} ${totals.requests === 1 ? "request" : "requests"} and ${number(totals.total_tokens)} tokens${since}.</p>
<div class="tables">
${table("Models by tokens", ["Model", "Requests", "Tokens"], models)}
${table("Accounts by tokens, under pseudonyms", ["Account", "Tokens"], users)}
</div>
</section>`;
}

function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  if (rows.length === 0) return "";
  const cells = heads.map((head, at) => `<th scope="col"${at > 0 ? ' class="number"' : ""}>${head}</th>`);
  return `<table><caption>${caption}</caption><thead><tr>${cells.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function row(name: string, ...figures: readonly (number | undefined)[]): string {
  const cells = figures.flatMap((figure) =>
    figure === undefined ? [] : [`<td class="number">${number(figure)}</td>`],
  );
  return `<tr><th scope="row">${name}</th>${cells.join("")}</tr>`;
}

function iconOf(kind: keyof typeof MARKS): string {
  const colour = { ok: "#1c6b2f", warn: "#8a5300", danger: "#b3261e", none: "#6b7280" }[kind];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${colour}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const whole = lazily(() => new Intl.NumberFormat("en"));
const number = (value: number) => whole().format(value);
const milliseconds = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function timeOf(iso: string | null): string {
  if (iso === null) return "never yet";
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** The two largest units. */
function lasting(seconds: number): string {
  const units = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = Math.max(
    0,
    units.findIndex(([count]) => count > 0),
  );
  const shown = units.slice(first, first + 2).filter(([count], at) => at === 0 || count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(" ");
}

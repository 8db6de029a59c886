// Formats times and figures for display.

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 hours ago", "in 5 days". */
export function relativeTime(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return seconds > 0 ? "in a moment" : "just now";
}

/** A time relative to now; its tooltip shows the exact time. */
export function When({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={exact.format(new Date(iso))}>
      {relativeTime(iso)}
    </time>
  );
}

const dayAndMonth = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const clockTime = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** A time to the second, without the date if it is today. */
export function exactTime(iso: string): string {
  const moment = new Date(iso);
  const day = moment.toDateString() === new Date().toDateString() ? "" : `${dayAndMonth.format(moment)}, `;
  return day + clockTime.format(moment);
}

/** A time to the minute in a time zone. */
export function zonedTime(iso: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone }).format(
    new Date(iso),
  );
}

/** Milliseconds as "812 ms", "8.4 s" or "2 min 10 s"; a dash for none. */
export function durationText(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : lasting(ms / 1000);
}

/** A day in the format of the user's locale. */
export function dayText(iso: string): string {
  return dateOnly.format(new Date(iso));
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

/** 1234567 as "1.2M". */
export function short(count: number): string {
  return count < 10_000 ? whole.format(count) : compact.format(count);
}

/** An amount in dollars; small amounts have more digits. */
export function usd(amount: number): string {
  if (amount === 0) return "$0";
  const digits = amount < 0.01 ? 5 : amount < 1 ? 4 : 2;
  return `$${amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** What stands for a price or a cost that is not known. */
const UNKNOWN = "unknown";

/** A model's price per million tokens, in the same words on every page. */
export function priceText(prices: { readonly input: number; readonly output: number } | null): string {
  return prices === null ? UNKNOWN : `${usd(prices.input)} in, ${usd(prices.output)} out`;
}

/** Figures with a cost. */
interface Costing {
  readonly cost_usd: number | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The cost of requests, in the same words on every page; a dash where there was nothing to pay for. */
export function costText({ cost_usd: cost, input_tokens: input, output_tokens: output }: Costing): string {
  if (cost === null) return UNKNOWN;
  return cost === 0 && input + output === 0 ? "–" : usd(cost);
}

/** 0.1234 as "12.3 %". */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** 3145728 as "3.0 MiB". */
export function formatBytes(bytes: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), SIZES.length - 1);
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${SIZES[step]}`;
}

/** 93784 as "1 d 2 h": only the two largest units are shown. */
export function lasting(seconds: number): string {
  const units = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const first = Math.max(
    units.findIndex(([count]) => count > 0),
    0,
  );
  return units
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

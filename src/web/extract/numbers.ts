// Reads numbers, dates and booleans as pages write them, but only if they are unambiguous: "1,299" may be more than a thousand or
// just over one, and "5 kg" is not a number for a field that does not mention kilograms.

import { entryOf } from "../../base/json-object.ts";
import { foldedName } from "./names.ts";

/** A currency before or after an amount. */
const CURRENCY =
  /^(?:[A-Z]{2,3}\s?[$£]|[A-Z]{3}|[$€£¥₹₽₩])\s?(?=[\d+-])|(?<=\d)\s?(?:[A-Z]{3}|[$€£¥₹₽₩]|zł|kr\.?|Kč)$/u;
const CHARS_MAX = 60;
/** Maximum number of digits that a JavaScript number represents exactly. */
const DIGITS_MAX = 15;

/** The number in a text, for a field with this name; undefined if it is ambiguous. */
export function readNumber(text: string, field: string): number | undefined {
  const trimmed = text.replace(/[\s\u00a0\u202f]+/g, " ").trim();
  if (trimmed.length > CHARS_MAX) return undefined;
  const duration = readDuration(trimmed, field);
  if (duration !== undefined) return duration;
  const amount = withoutUnit(trimmed.replace(CURRENCY, ""), field);
  if (amount === undefined) return undefined;
  const plain = plainDigits(amount);
  return plain === undefined || plain.replace(/\D/g, "").length > DIGITS_MAX ? undefined : Number(plain);
}

/** The text without its unit if the field's name contains the unit; undefined if it has another unit. */
function withoutUnit(text: string, field: string): string | undefined {
  const [, amount = "", unit = ""] = /^([+-]?[\d.,' ]*\d)\s?(\p{L}*)$/u.exec(text) ?? [];
  if (amount === "") return undefined;
  return unit === "" || namesUnit(field, unit) ? amount : undefined;
}

/** Whether one of the words in the field's name is the unit. */
export function namesUnit(field: string, unit: string): boolean {
  const folded = foldedName(unit);
  return wordsOf(field).some((word) => word === folded || (entryOf(UNITS, folded) ?? []).includes(word));
}

/** The field's name without its unit, such as `weight` for `weight_kg`; undefined if it has no unit. */
export function withoutUnitWord(field: string): string | undefined {
  const words = wordsOf(field);
  const last = words.at(-1);
  return words.length > 1 && last !== undefined && KNOWN_UNITS.has(last) ? words.slice(0, -1).join(" ") : undefined;
}

function wordsOf(field: string): string[] {
  return field
    .split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)
    .map(foldedName)
    .filter((word) => word !== "");
}

/** Abbreviations of units, and other names that fields use for them. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  min: ["minute"],
  h: ["hour"],
  hr: ["hour"],
  sec: ["second"],
  kcal: ["calory", "kcal"],
  cal: ["calory"],
  calory: ["kcal"],
  people: ["serving"],
  kgm: ["kg"],
  grm: ["g", "gram"],
  cmt: ["cm"],
  mmt: ["mm"],
};

const KNOWN_UNITS = new Set(
  "kg g mg gram lb oz cm mm m km inch in ft l ml minute min hour second day kcal w kw v wh mah mb gb tb".split(" "),
);

/** The digits with at most one decimal point; undefined if a separator is ambiguous. */
function plainDigits(text: string): string | undefined {
  if (/^[+-]?\d+$/.test(text)) return text;
  const grouped = /^([+-]?\d{1,3})((?:([.,' ])\d{3})(?:\3\d{3})*)(?:([.,])(\d+))?$/.exec(text);
  if (grouped !== null) {
    const [, head = "", groups = "", sign = "", point, decimals] = grouped;
    // A single group after a point or comma may be decimals or thousands.
    const isEither = point === undefined && (sign === "." || sign === ",") && groups.length === 4;
    if (isEither) return /^[+-]?0$/.test(head) ? `${head}.${groups.slice(1)}` : undefined;
    if (point === sign) return undefined;
    return `${head}${groups.replace(/\D/g, "")}${decimals === undefined ? "" : `.${decimals}`}`;
  }
  const decimal = /^([+-]?\d+)[.,](\d+)$/.exec(text);
  return decimal === null ? undefined : `${decimal[1]}.${decimal[2]}`;
}

const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Reads an ISO 8601 duration in the unit that the field's name contains. */
function readDuration(text: string, field: string): number | undefined {
  const parts = DURATION.exec(text);
  if (parts === null || /^PT?$/.test(text)) return undefined;
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ];
  const total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  if (namesUnit(field, "second")) return total;
  if (namesUnit(field, "minute") || namesUnit(field, "min")) return total / 60;
  return namesUnit(field, "hour") ? total / 3600 : undefined;
}

const YES = new Set(["true", "yes", "instock", "onlineonly", "instoreonly", "limitedavailability", "telecommute"]);
const NO = new Set(["false", "no", "outofstock", "soldout", "discontinued"]);

/** Reads a boolean; undefined if the text is neither yes nor no. */
export function yesOrNo(text: string): boolean | undefined {
  const word = foldedName(lastWord(text));
  if (YES.has(word)) return true;
  return NO.has(word) ? false : undefined;
}

/** The last part of a schema.org enumeration value, without its address. */
export function lastWord(text: string): string {
  return text.trim().replace(/^https?:\/\/(?:www\.)?schema\.org\/(?=\w+$)/i, "");
}

/** The date or time in the given format; undefined if the text contains none. */
export function readDate(text: string, format: "date" | "date-time"): string | undefined {
  const [, date = "", time = ""] = /^(\d{4}-\d{2}-\d{2})(?:[T ](.+))?$/.exec(text.trim()) ?? [];
  if (!isDay(date)) return undefined;
  if (format === "date") return date;
  const [, clock = "", zone = ""] = /^(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})$/.exec(time) ?? [];
  if (clock === "") return undefined;
  const full = /^\d{2}:\d{2}$/.test(clock) ? `${clock}:00` : clock;
  return `${date}T${full}${zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`;
}

function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

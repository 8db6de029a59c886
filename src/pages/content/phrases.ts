// Patterns that show the kind of a text without understanding it: boilerplate phrases, dates, prices, and function words, which
// running text has and lists do not.

/** Phrases of boilerplate, by kind. They are mostly English; for other languages only the most common wordings are listed. */
export const PHRASES: readonly RegExp[] = [
  /©|\(c\) ?(?:19|20)\d\d|copyright|all rights reserved|alle rechte|tous droits|privacy policy|terms of (?:use|service)|impressum|datenschutz/i,
  /cookie|consent|gdpr|opt[- ]out/i,
  /subscribe|newsletter|sign ?up|abonnier|inscri|suscr|email address|your (?:e-?)?mail/i,
  /\bshare\b|tweet|facebook|twitter|whatsapp|pinterest|linkedin|instagram|follow us|teilen|partager/i,
  /read more|continue reading|learn more|see (?:all|more)|view (?:all|more)|show more|load more|mehr lesen|weiterlesen|lire la suite|leer más|find out more|shop now/i,
  /\breply\b|comment|kommentar|log ?in|sign ?in|register|anmelden|antworten/i,
  /related|you (?:may|might) also|recommended|more from|also like|popular|trending|most read|latest|ähnliche|verwandte|lesen sie|auch interess|previous|next (?:post|article)/i,
  /add to (?:cart|bag|basket|wish)|in stock|out of stock|checkout|free shipping|quantity|sold out|quick view|choose option|in den warenkorb/i,
  /^by\b|posted (?:by|on|in)|written by|published|updated|^von\b|veröffentlicht|last modified|min(?:ute)?s? read|photo(?:graph)?(?: by|:)|image:|credit/i,
  /advertis|sponsored|anzeige|werbung|publicité/i,
  /skip to|back to top|toggle|close|menu|search|loading|nach oben|javascript/i,
  /filter|sort by|show(?:ing)? \d|results|per page|items?\b|products\b|page \d/i,
  /\btags?\b|categor|filed under|schlagw|kategorie|topics?:/i,
];
/** A date, written out or in digits. */
export const DATE =
  /\b(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\b\d{1,2}[./]\d{1,2}[./](?:19|20)?\d\d\b|\b(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.? \d{1,2}|\b\d{1,2}\.? (?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)|\bago\b|\bvor \d+/i;
/** An amount of money. */
const PRICE = /[$€£¥₹]\s?\d|\d\s?[€£]|\b(?:usd|eur|gbp)\b/i;

/** Function words of the most common languages in Latin and Cyrillic script. */
const SMALL_WORDS = new Set(
  (
    "the of and to in a is that for it with as on are was be by this at from or an have not has but they which we you i he she his her their our your " +
    "der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man " +
    "le la les de des du et en un une que qui dans pour pas sur plus par est avec ce il elle au aux se sont ou mais comme " +
    "el los las y que en un una por con no se su para es al lo como más pero sus le ya o este sí porque " +
    "il di che non per un una del della dei le con si è da come più anche ma sono al alla nel " +
    "o os as do da dos em um uma para com não se na no por mais como mas ao " +
    "de het een en van is op te dat niet zijn voor met die aan er om ook als bij maar uit " +
    "и в не на что с по как к из за от то это для но а о у же так был"
  ).split(" "),
);
/** Words that address or refer to a person. */
const PERSONAL_WORDS = new Set(
  "i me my mine we us our you your ich wir uns du sie ihr mein je nous vous mon yo nosotros mi".split(" "),
);

/** The patterns that are looked for in the start of every text: a date, a price, and the phrases. */
export const LOOKED_FOR: readonly RegExp[] = [DATE, PRICE, ...PHRASES];
/**
 * For each of these patterns, parts of words of which one stands in every text that matches it. The words of a page repeat, so that
 * few texts have to be compared with the patterns themselves.
 */
const HINTS: readonly RegExp[] = [
  /\d|ago/i,
  /[$€£¥₹]|usd|eur|gbp/i,
  /©|\(c\)|copyright|rights|rechte|droits|privacy|terms|impressum|datenschutz/i,
  /cookie|consent|gdpr|opt/i,
  /subscribe|newsletter|sign|abonnier|inscri|suscr|mail/i,
  /share|tweet|facebook|twitter|whatsapp|pinterest|linkedin|instagram|follow|teilen|partager/i,
  /more|reading|all|lesen|lire|leer|shop/i,
  /reply|comment|kommentar|log|sign|register|anmelden|antworten/i,
  /related|also|recommended|more|popular|trending|read|latest|ähnliche|verwandte|lesen|interess|previous|next/i,
  /add|stock|checkout|shipping|quantity|sold|quick|choose|warenkorb/i,
  /by|posted|written|published|updated|von|veröffentlicht|modified|read|photo|image|credit/i,
  /advertis|sponsored|anzeige|werbung|publicité/i,
  /skip|back|toggle|close|menu|search|loading|oben|javascript/i,
  /filter|sort|show|results|page|item|product/i,
  /tag|categor|filed|schlagw|kategorie|topic/i,
];
const ANY_HINT = new RegExp(HINTS.map(({ source }) => source).join("|"), "i");

/** What is known of the words of a page, which repeat: bits of `kindOf`. */
export type KnownWords = Map<string, number>;

const SMALL = 1;
const PERSONAL = 2;
const LOWER = 4;
/** From this bit on, each bit stands for one of the patterns of which a word has a hint. */
const HINTS_FROM = 3;

/** What the words at the start of a text say. */
export interface WordFigures {
  /** The shares of function words, of words without a capital, and of personal words. */
  readonly shares: readonly number[];
  /** For each of LOOKED_FOR, a bit that is set unless the first 400 characters surely do not match it. */
  readonly hints: number;
}

/** Reads the words at the start of a text whose white space is collapsed. */
export function wordFigures(text: string, known: KnownWords): WordFigures {
  const words = (text.length > 600 ? text.slice(0, 600) : text).split(" ");
  let small = 0;
  let lower = 0;
  let personal = 0;
  let kinds = 0;
  for (const word of words) {
    let kind = known.get(word);
    if (kind === undefined) {
      kind = kindOf(word);
      known.set(word, kind);
    }
    if ((kind & SMALL) !== 0) small++;
    if ((kind & PERSONAL) !== 0) personal++;
    if ((kind & LOWER) !== 0) lower++;
    kinds |= kind;
  }
  const shares = [small / words.length, Math.min(30, small), lower / words.length, personal / words.length];
  return { shares, hints: kinds >> HINTS_FROM };
}

function kindOf(word: string): number {
  const folded = word.toLowerCase();
  const isLower = folded === word && folded !== word.toUpperCase();
  let kind =
    (SMALL_WORDS.has(folded) ? SMALL : 0) | (PERSONAL_WORDS.has(folded) ? PERSONAL : 0) | (isLower ? LOWER : 0);
  if (ANY_HINT.test(word))
    HINTS.forEach((hint, at) => {
      if (hint.test(word)) kind |= 1 << (HINTS_FROM + at);
    });
  return kind;
}

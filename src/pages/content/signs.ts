// The words with which pages say that a short text or a section leads away from the content: shares, related stories, comments,
// advertisements.

import type { Block } from "./blocks.ts";

/** Headings of parts that lead away from the article. */
const SIGN_HEADING =
  /^(?:share|related|recommended|read more|read next|more (?:from|on|in|stories|articles|news|about)|you (?:may|might) (?:also|like)|also (?:on|in|read)|see more|similar|popular|trending|most (?:read|popular)|latest|recent|(?:\d+ )?(?:comments?|responses?|replies|thoughts)\b|leave a|join the|subscribe|sign ?up|newsletter|follow us|about the author|tags?\b|categories|topics?\b|advertis|sponsored|next (?:post|article|story)|previous|navigation|search|archives?|meta$|contact us)/i;
/** Short texts that are no content wherever they are. */
const SIGN_TEXT =
  /^(?:share\b|tweet|pin it|e-?mail(?: this)?$|print(?: this)?$|facebook|twitter|whatsapp|linkedin|reddit|by [\p{Lu}]|posted\b|published\b|updated\b|publiziert\b|veröffentlicht\b|publicado\b|publié\b|aktualisiert\b|actualizado\b|last (?:updated|modified)|filed under|tagged|tags?\s*:|categor|topics?\s*:|read (?:more|next|also)|related\b|see also:|advertis|sponsored|subscribe|suscr[ií]b|abonn|hazte (?:miembro|socio)|become a member|sign ?(?:up|in)|log ?in|follow (?:us|me)|like this|comments?\b|\d+ (?:comments?|shares?|views?|likes?)|leave a|reply|previous\b|next\b(?! steps?\b)|back to|skip to|click here|©|copyright|photo(?:graph)?(?: by|:)|image:|credit)/iu;
const SIGN_TEXT_CHARS_MAX = 120;
/** Two networks named in a short text ask the reader to follow someone there. */
const NETWORKS = /(?:facebook|twitter|instagram|youtube|linkedin|tiktok|pinterest|whatsapp|telegram)/gi;
const NETWORKS_TEXT_CHARS_MAX = 200;

/** Whether a text is the heading of a part that leads away from the article. */
export function isSignHeading(text: string): boolean {
  return SIGN_HEADING.test(text) || LEADS.test(text) || LABEL.test(text);
}

/** Whether a short text is no content wherever it is. */
export function isSignText(text: string): boolean {
  if (text.length <= SIGN_TEXT_CHARS_MAX && (SIGN_TEXT.test(text) || LEADS.test(text) || LABEL.test(text))) return true;
  return text.length <= NETWORKS_TEXT_CHARS_MAX && (text.match(NETWORKS)?.length ?? 0) > 1;
}

/** The beginnings of links to other stories, in the languages of many pages. */
const LEAD_LISTS = [
  "read (?:more|also|next)|also read|see more|more (?:stories|articles|from)|related (?:stories|articles|posts|news|content|topics|links|reading)|you (?:may|might) also like|recommended for you",
  "lesen sie (?:auch|mehr|hier|dazu)|lies auch|mehr (?:zum thema|themen|lesen|dazu|artikel)|weiterlesen|weitere (?:artikel|beiträge|meldungen|themen|nachrichten)|schon gelesen|auch interessant|das könnte (?:sie|dich|euch)|verwandte (?:artikel|beiträge|themen|links)|ähnliche (?:artikel|beiträge|themen)|passend dazu|zum thema",
  "[àa] lire (?:aussi|également|ensuite)|lire (?:aussi|également|la suite)|voir aussi|sur le même (?:thème|sujet)|articles? (?:liés|similaires|associés|connexes)|vous aimerez",
  "le[ea] también|lee más|leer (?:también|más)|[tl]e puede interesar|también te puede|noticias relacionadas|artículos relacionados|te recomendamos",
  "leia (?:também|mais)|veja também|saiba mais|artigos relacionados|notícias relacionadas|você também pode",
  "leggi anche|leggi tutto|potrebbe(?:ro)? interessarti|articoli correlati|ti potrebbe",
  "lees (?:ook|meer|verder)|gerelateerde|meer over dit",
  "czytaj (?:też|także|również|więcej|dalej)|zobacz (?:też|także|również|więcej)|przeczytaj (?:też|także|również|więcej)|podobne (?:artykuły|wpisy)",
  "läs (?:också|även|mer|vidare)|les (?:også|mer)|læs (?:også|mere)|lue (?:myös|lisää)|relaterade|relaterte",
  "přečtěte si|čtěte (?:také|dále)|olvassa? (?:el|tovább)|kapcsolódó cikk|citiți și|citește și|pročitajte (?:i|još)|devamını oku|ilginizi çekebilir",
  "читайте (?:также|ещё|еще|далее)|читать (?:далее|также)|смотрите также|похожие (?:статьи|новости|записи)|по теме:|читайте також",
  "関連記事|続きを読む|あわせて読みたい|相关(?:文章|阅读|新闻)|延伸閱讀|延伸阅读|阅读更多|관련 ?기사|더 ?보기",
];
const LEADING = `^[\\s»›>→▶•*+|–—-]*(?:${LEAD_LISTS.join("|")})`;
const LEADS = new RegExp(`${LEADING}(?!\\p{L})`, "iu");
/** The same as a line of its own, above links. */
const LEAD_LINE = new RegExp(`${LEADING}[\\s:?!.…»]*$`, "iu");
const LEAD_CHARS_MAX = 200;
const LINK_SHARE = 0.35;

/** Labels of shares and advertisements that are the whole text. */
const LABEL = new RegExp(
  `^(?:${[
    "share(?: (?:this|on|via|it))?(?: (?:article|post|story|page))?|tweet|like this|loading|advertisements?|sponsored(?: content)?|related(?: posts)?",
    "teilen(?: (?:mit|auf|via))?|(?:artikel|beitrag|seite) (?:teilen|drucken)|gefällt mir|wird geladen|gefällt mir wird geladen|anzeige|werbung|drucken",
    "partager(?: (?:sur|cet article))?|publicité|chargement(?: en cours)?|compartir(?: en)?|comparte|publicidad|cargando|compartilhar|compartilhe|publicidade|carregando",
    "condividi(?: su)?|pubblicità|caricamento|delen|advertentie|udostępnij|podziel się|reklam[ay]?|dela|annons|jaa|mainos|del|annonse|annonce",
    "поделиться|реклама|загрузка|paylaş|sdílet|megosztás|hirdetés|シェア|広告|分享|广告|廣告|공유|광고",
  ].join("|")})\\s*[:.…»!]*$`,
  "iu",
);
/** Whether a block points away from the content: a link to another story, or the label of shares or of an advertisement. */
export function isPointer({ text, linkChars }: Block): boolean {
  if (text.length > LEAD_CHARS_MAX) return false;
  if (LABEL.test(text)) return true;
  // A sentence may begin with the same words, so a text that is not mostly a link must be nothing else.
  return linkChars > text.length * LINK_SHARE ? LEADS.test(text) : LEAD_LINE.test(text);
}

/** A sign or word of rights before a name. */
const CREDIT =
  /^[([]?\s*(?:©|\(c\)|copyright\b|(?:foto|photo|bild|image|picture|imagen|imagem|immagine|fot|zdj|crédit|crédito|credit)s?(?:\s+(?:credit|by|von|de))?\s*[.:|/©]+|(?:photo|image)s?\s+(?:by|courtesy)\b|getty images\b|shutterstock\b)/iu;
const CREDIT_CHARS_MAX = 60;
/** Words without a capital that stand in names. */
const IN_NAMES = /^(?:von|van|de|da|di|du|la|le|via|und|and|for|by|of|the|y|e|et|dpa)$/;

/** Whether a text names the source of a picture and says nothing of the picture. */
export function isCredit(text: string): boolean {
  if (text.length > CREDIT_CHARS_MAX) return false;
  const named = text.replace(CREDIT, "");
  // Other words than names say what the picture shows.
  return named !== text && named.split(/\s+/).every((word) => !/^\p{Ll}/u.test(word) || IN_NAMES.test(word));
}

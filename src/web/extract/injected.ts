// Finds sentences of a page that give instructions to a language model. The model is told not to follow them; in case it does, no
// quote may come from them. Patterns only recognise plain text, so this supplements the rule that every value needs a quote, and
// does not replace it. A false positive costs a quote, which is reported.

const MODEL = "(?:ai|a\\.i\\.|llms?|language models?|gpt|claude|gemini|chatbots?|extractors?|scrapers?)";

const SIGNS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all|your|these|any|the)\b[^.!?\n]{0,30}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|schema)\b/i,
  new RegExp(
    `\\b(?:instructions?|note|message|notice|attention|important)\\b[^.!?\\n]{0,20}\\b(?:to|for)\\b[^.!?\\n]{0,20}\\b${MODEL}\\b`,
    "i",
  ),
  /\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt)\s*:/i,
  new RegExp(`\\byou are (?:now |only )?(?:an? |the )?${MODEL}\\b`, "i"),
  new RegExp(
    `\\b(?:as|dear|hey|hello|if you are) an? ${MODEL}\\b[^.!?\\n]{0,40}\\b(?:you|must|should|please|do not|don't)\\b`,
    "i",
  ),
  /\b(?:reveal|print|repeat|show|ignore|override|your)\b[^.!?\n]{0,20}\bsystem (?:prompt|message|instructions?)\b/i,
  /<\|?(?:im_start|im_end|endoftext|begin_of_text|start_header_id)\|?>|\[\/?INST\]|<<\/?SYS>>/i,
  new RegExp(
    `\\b${MODEL}\\b[^.!?\\n]{0,40}\\b(?:must|should|shall|are to|have to)\\b[^.!?\\n]{0,40}\\b(?:answer|respond|reply|output)\\b`,
    "i",
  ),
  /\b(?:respond|reply|answer) (?:only|exactly|just) with\b|\boutput (?:only|exactly|just)\b/i,
  /^\W*(?:please |now |instead,? )?(?:set|change|report|return|output|give|state|record)\b[^.!?\n]{0,20}\b(?:fields?|value|json|answer|output|result|price|rating|title|name)\b[^.!?\n]{0,20}\b(?:to|as|is)\b/i,
];

/** Maximum length of one sentence; longer ones are examined in pieces. */
const SENTENCE_CHARS_MAX = 600;
const ORDERS_MAX = 50;

/** A text, and the instructions found in it. */
export interface Sifted {
  /** The text without the instructions. */
  readonly text: string;
  readonly orders: readonly string[];
}

/** Removes instructions to language models from a text. */
export function siftOrders(text: string): Sifted {
  const orders: string[] = [];
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    kept.push(
      sentencesOf(line)
        .filter((sentence) => {
          const isOrder = SIGNS.some((sign) => sign.test(sentence));
          if (isOrder && orders.length < ORDERS_MAX) orders.push(sentence.trim());
          return !isOrder;
        })
        .join(""),
    );
  }
  return { text: kept.join("\n"), orders };
}

function sentencesOf(line: string): string[] {
  return (line.match(/[\s\S]+?(?:[.!?](?=\s)\s*|$)/g) ?? []).flatMap(
    (sentence) => sentence.match(new RegExp(`.{1,${SENTENCE_CHARS_MAX}}`, "gs")) ?? [],
  );
}

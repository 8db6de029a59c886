// Splits a page's Markdown into parts that fit a model's window. Sections, tables, lists and code stay whole if possible: a part
// ends before a heading, or otherwise between blocks, and a table that must be split repeats its header. Pure.

/** The first character beyond the Latin alphabets. The scripts there take about one token per letter. */
const WIDE_FROM = 0x24f;
/** The number of letters of Latin alphabets per token. */
export const CHARS_PER_TOKEN_MAX = 3;
/** Shorter parts are not halved, because their length cannot be the reason for a long answer. */
const HALVED_TOKENS_MIN = 50;

/**
 * Estimates the maximum number of tokens of a text: one for a few characters of English, one for each character of scripts
 * without an alphabet.
 */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > WIDE_FROM) wide++;
  return Math.ceil((text.length - wide) / CHARS_PER_TOKEN_MAX + wide);
}

/** The parts in their order; none for an empty text. */
export function chunksOf(markdown: string, tokensMax: number): string[] {
  const chunks: string[] = [];
  let current: string[] = [];
  let size = 0;
  const close = () => {
    if (current.length > 0) chunks.push(current.join("\n\n"));
    current = [];
    size = 0;
  };
  for (const section of sectionsOf(blocksOf(markdown))) {
    const tokens = sum(section.map(tokensOf));
    if (size + tokens > tokensMax) close();
    if (tokens <= tokensMax) {
      current.push(...section);
      size += tokens;
      continue;
    }
    const heading = headingOf(section);
    // Counted once, since a heading may be as long as the text.
    const headingSize = heading === undefined ? 0 : tokensOf(heading);
    for (const piece of section.flatMap((block) => piecesOf(block, tokensMax))) {
      if (size + tokensOf(piece) > tokensMax) {
        close();
        // If a section is split, its heading is repeated in each part.
        if (heading !== undefined && piece !== heading && headingSize + tokensOf(piece) <= tokensMax) {
          current.push(heading);
          size += headingSize;
        }
      }
      current.push(piece);
      size += tokensOf(piece);
    }
  }
  close();
  return chunks;
}

/** The two halves of a part, for a model whose answer was too long; undefined if the part cannot be split. */
export function halvesOf(chunk: string): readonly string[] | undefined {
  const tokens = estimateTokens(chunk);
  if (tokens < HALVED_TOKENS_MIN) return undefined;
  const halves = chunksOf(chunk, Math.ceil(tokens / 2) + 1);
  return halves.length > 1 ? halves : undefined;
}

const tokensOf = (block: string) => estimateTokens(block) + 1;
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** The blocks of a text: paragraphs, tables, lists and fenced code. */
function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  const close = () => {
    if (lines.length > 0) blocks.push(lines.join("\n"));
    lines = [];
  };
  for (const line of markdown.split("\n")) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      lines.push(line);
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else if (line.trim() === "") close();
    else {
      if (mark !== undefined) fence = mark;
      if (/^#{1,6} /.test(line)) close();
      lines.push(line);
      if (/^#{1,6} /.test(line)) close();
    }
  }
  close();
  return blocks;
}

/** Each heading with the blocks under it. */
function sectionsOf(blocks: readonly string[]): string[][] {
  const sections: string[][] = [];
  let hasText = false;
  for (const block of blocks) {
    const last = sections.at(-1);
    // A heading directly below another heading belongs to the same section.
    if (last === undefined || (isHeading(block) && hasText)) {
      sections.push([block]);
      hasText = false;
    } else last.push(block);
    hasText ||= !isHeading(block);
  }
  return sections;
}

const isHeading = (block: string) => /^#{1,6} /.test(block);

function headingOf(section: readonly string[]): string | undefined {
  const [first] = section;
  return first !== undefined && isHeading(first) ? first : undefined;
}

/** Splits a block into pieces that fit, between its lines if it has several. */
function piecesOf(block: string, tokensMax: number): string[] {
  if (tokensOf(block) <= tokensMax) return [block];
  const lines = block.split("\n");
  const head = isTableRule(lines[1] ?? "") && (lines[0] ?? "").includes("|") ? lines.splice(0, 2) : [];
  const headSize = sum(head.map(tokensOf));
  const room = Math.max(1, headSize * 2 > tokensMax ? tokensMax : tokensMax - headSize);
  const repeated = room === tokensMax ? [] : head;
  const pieces: string[] = [];
  let current: string[] = room === tokensMax ? head.flatMap((line) => cut(line, room)) : [];
  let size = sum(current.map(tokensOf));
  const close = () => {
    if (current.length > 0) pieces.push([...repeated, ...current].join("\n"));
    current = [];
    size = 0;
  };
  for (const line of lines.flatMap((whole) => cut(whole, room))) {
    if (size + tokensOf(line) > room) close();
    current.push(line);
    size += tokensOf(line);
  }
  close();
  return pieces;
}

/** Whether a line parts the head of a table from its rows. */
function isTableRule(line: string): boolean {
  return line.includes("-") && /^[\s:|-]*$/.test(line);
}

/** Splits a line into pieces that fit, between words if it has several. */
function cut(line: string, tokensMax: number): string[] {
  if (tokensOf(line) <= tokensMax) return [line];
  const pieces: string[] = [];
  // Counted in thirds of a token, the estimate for one letter.
  const room = Math.max(3, (tokensMax - 1) * 3);
  let [start, space, used] = [0, -1, 0];
  for (let at = 0; at < line.length; at++) {
    const size = line.charCodeAt(at) > WIDE_FROM ? 3 : 1;
    if (used + size > room) {
      const isPair = /[\udc00-\udfff]/.test(line[at] ?? "") && at - 1 > start;
      const end = space > start ? space : isPair ? at - 1 : at;
      pieces.push(line.slice(start, end));
      start = line[end] === " " ? end + 1 : end;
      at = start;
      used = 0;
      space = -1;
      if (at >= line.length) break;
    }
    if (line[at] === " ") space = at;
    used += line.charCodeAt(at) > WIDE_FROM ? 3 : 1;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}

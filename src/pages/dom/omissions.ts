// What the limits of a conversion left out of a page. Every limit that shortens the result is told to the reader through this.

/** How each limit is told, given how much it left out. */
const SENTENCES = {
  nodes: () => "The page has more elements than are read: its end is missing.",
  rows: (count: number) => `Tables are too long: ${plural(count, "row")} left out.`,
  columns: (count: number) => `Tables are too wide: ${plural(count, "column")} left out.`,
  links: (count: number) => `The list of links is too long: ${plural(count, "link")} left out.`,
  addresses: (count: number) => `Addresses are too long: ${plural(count, "link")} left without one.`,
  entries: (count: number) => `The feed is too long: ${plural(count, "entry", "entries")} left out.`,
  unjudged: () =>
    "The page has more blocks of text than are examined: its end is kept whole, without a choice of main content.",
} as const;

/** A limit that can shorten a page. */
type PageLimit = keyof typeof SENTENCES;

/** Collects what is left out of one page. */
export class Omissions {
  readonly #counts = new Map<PageLimit, number>();

  /** Counts what a limit left out. */
  add(limit: PageLimit, count = 1): void {
    if (count > 0) this.#counts.set(limit, (this.#counts.get(limit) ?? 0) + count);
  }

  /** One sentence for each limit that left something out. */
  sentences(): string[] {
    return [...this.#counts].map(([limit, count]) => SENTENCES[limit](count));
  }
}

function plural(count: number, noun: string, many = `${noun}s`): string {
  return count === 1 ? `1 ${noun} was` : `${count} ${many} were`;
}

// What the gateway does with a name of a vendor where the client's protocol and the provider's differ.

/**
 * - `passed`: it reaches the other side under its own name;
 * - `translated`: it is written in the other protocol's form, or the gateway does it itself;
 * - `dropped`: it is left out, which a request's answer says in `x-sallyport-dropped`;
 * - `refused`: the request is refused with its name, or the answer becomes an error.
 */
export const VERDICTS = ["passed", "translated", "dropped", "refused"] as const;

/** One of them. */
export type Verdict = (typeof VERDICTS)[number];

/** A verdict, with what it leaves open. */
export interface Decision {
  verdict: Verdict;
  note?: string;
}

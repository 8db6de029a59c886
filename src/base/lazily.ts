// What is made when it is first used, and kept: a start does not pay for it.

/** Gives the value, which the first call makes. */
export interface Lazy<T> {
  (): T;
  /** The value if it was made; undefined if nobody has used it yet. */
  ifMade(): T | undefined;
}

/** A function that makes the value at its first call. If `make` throws, the next call tries again. */
export function lazily<T>(make: () => T): Lazy<T> {
  let made: { readonly value: T } | undefined;
  const value = () => {
    made ??= { value: make() };
    return made.value;
  };
  return Object.assign(value, { ifMade: () => made?.value });
}

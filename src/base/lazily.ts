// What is made when it is first used, and kept: a start does not pay for it.

/** A function that makes the value at its first call. If `make` throws, the next call tries again. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

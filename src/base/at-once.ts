// Answers that are mostly there at once. Waiting for each of them would cost every request a turn of the event loop for the
// sake of the few that have to be looked up.

/** What may have to be waited for. */
export type AtOnce<T> = T | Promise<T>;

/** Goes on with the value: at once where it is there. */
export function whenThere<T, U>(value: AtOnce<T>, next: (value: T) => U): AtOnce<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

// Values that are usually available synchronously. Awaiting each of them would cost every request an iteration of the event
// loop for the few that need a look-up.

/** A value, or a promise of it. */
export type AtOnce<T> = T | Promise<T>;

/** Continues with the value, synchronously if it is available. */
export function whenThere<T, U>(value: AtOnce<T>, next: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

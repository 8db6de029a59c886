// Values that are usually available synchronously. Awaiting each of them would cost every request a turn of the event
// loop for the few that need a look-up.

/** What may have to be waited for. */
export type AtOnce<T> = T | Promise<T>;

/** Goes on with the value: at once where it is there. */
export function whenThere<T, U>(value: AtOnce<T>, next: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

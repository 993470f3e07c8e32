/** Values that are mostly available at once: a promise costs as much as a whole response. */

export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` at once with a value, or when the promise resolves. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

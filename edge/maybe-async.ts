/** Values that are known at once as a rule, and have to be waited for now and then: a promise costs as much as an answer. */

export type Later<T> = T | Promise<T>;

/** Goes on at once with what is known, and later with what is not. */
export function whenKnown<T, U>(value: Later<T>, next: (value: T) => Later<U>): Later<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

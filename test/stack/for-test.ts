import { onTestFinished } from 'vitest';

/** Gives the object these properties until the test ends, however it ends. */
export function setForTest<T extends object>(target: T, values: Partial<T>): void {
  const before = { ...target };
  onTestFinished(() => void Object.assign(target, before));
  Object.assign(target, values);
}

/** Starts the run's services before the first test that may need them; projects of one run share them. */
import type { TestProject } from 'vitest/node';
import { type Services, startServices } from './services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    services: Services;
  }
}

// Each project loads this file for itself: what they share hangs on the process.
type Shared = { services: ReturnType<typeof startServices>; users: number };
const key = Symbol.for('frontage.test.services');
const holder = globalThis as { [key]?: Shared };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  holder[key] ??= { services: startServices(), users: 0 };
  const shared = holder[key];
  shared.users += 1;
  const { stop, ...services } = await shared.services;
  project.provide('services', services);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete holder[key];
    await stop();
  };
}

/** Starts the run's services before the first test that may need them, once for all projects. */
import type { TestProject } from 'vitest/node';
import { type Services, startServices } from '#test/stack/services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    services: Services;
  }
}

let users = 0;
let starting: ReturnType<typeof startServices> | undefined;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  users += 1;
  starting ??= startServices();
  const { stop, ...services } = await starting;
  project.provide('services', services);
  return async () => {
    users -= 1;
    if (users === 0) await stop();
  };
}

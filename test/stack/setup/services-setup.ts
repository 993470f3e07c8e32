/** Starts the run's services before the first test that may need them. */
import type { TestProject } from 'vitest/node';
import { type Services, startServices } from '#test/stack/services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    services: Services;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { stop, ...services } = await startServices();
  project.provide('services', services);
  return stop;
}

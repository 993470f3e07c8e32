import type { TestProject } from 'vitest/node';
import { makeRunFolder, removeRunFolder, sweepRunFolders } from './run-folder.ts';
import { type StackAddress, startTestStack } from './stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackAddress;
    /** Of the run, on disk. */
    runFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await sweepRunFolders();
  const folder = makeRunFolder();
  try {
    const { stack, address } = await startTestStack(folder, 'shared', {
      onUnexpectedEnd: (name, how) => console.error(`The shared stack's ${name} ended: ${how}`),
    });
    project.provide('stack', address);
    project.provide('runFolder', folder);
    return async () => {
      await stack.stop();
      removeRunFolder(folder);
    };
  } catch (error) {
    removeRunFolder(folder);
    throw error;
  }
}

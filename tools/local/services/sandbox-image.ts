/** Makes the image that builds run in before the worker asks for it, where its making can be watched. */

import { makeDockerImage } from '#providers/sandbox/image/docker-image.ts';
import { makeImageFolder } from '#providers/sandbox/image/image.ts';
import { findEngine } from '#providers/sandbox/open.ts';

/** The worker decides what it runs builds with; this only does, ahead of it, what takes long. */
export async function prepareSandbox(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<void> {
  const mode = env.FRONTAGE_SANDBOX || 'auto';
  if (mode === 'off') return;
  const engine = mode === 'auto' || mode === 'docker' ? await findEngine(env.DOCKER_HOST ?? '') : undefined;
  await (engine ? makeDockerImage(engine, dataDir, note) : makeImageFolder(dataDir, note));
}

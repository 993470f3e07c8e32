/** Makes the sandbox image before the worker needs it, so that the start can show its progress. */

import { findEngine } from '#providers/sandbox/factory.ts';
import { makeDockerImage } from '#providers/sandbox/image/docker-image.ts';
import { makeImageFolder } from '#providers/sandbox/image/image.ts';

/** Only prepares the slow part: the worker itself chooses its sandbox. */
export async function prepareSandbox(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<void> {
  const mode = env.FRONTAGE_SANDBOX || 'auto';
  if (mode === 'off') return;
  const engine = mode === 'auto' || mode === 'docker' ? await findEngine(env.DOCKER_HOST ?? '') : undefined;
  // An engine that cannot load the image is no sandbox; others need the folder.
  const loaded = engine && (await makeDockerImage(engine, dataDir, note).catch(() => undefined));
  if (!loaded) await makeImageFolder(dataDir, note);
}

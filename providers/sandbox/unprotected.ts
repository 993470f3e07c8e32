/** Builds as child processes with the rights of this service. Only for operators who explicitly trust every site. */
import { dataKilobytes, limitData } from './child-process.ts';
import { folderSandbox } from './folder-sandbox.ts';
import { makeImageFolder, type Progress } from './image/image.ts';
import type { BuildLimits, Sandbox } from './sandbox.ts';

export type UnprotectedSandboxOptions = { dataDir: string; owner: string; onProgress: Progress };

/** Limits time, log and output as a real sandbox does, and memory coarsely; but not processes, files or network. */
export async function openUnprotectedSandbox({
  dataDir,
  owner,
  onProgress,
}: UnprotectedSandboxOptions): Promise<Sandbox> {
  const image = await makeImageFolder(dataDir, onProgress);
  return folderSandbox({ kind: 'unprotected', image, owner, enclose });
}

/** On Linux only: elsewhere it is unknown what such a limit counts. */
function enclose(_folder: string, { memoryBytes }: BuildLimits): string[] {
  if (process.platform !== 'linux') return [];
  return ['/bin/sh', '-c', `${limitData('"$1"')}; shift; exec "$@"`, 'enter', dataKilobytes(memoryBytes)];
}

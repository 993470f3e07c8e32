/** Builds as child processes with the rights of this service. Only for operators who explicitly trust every site. */
import { folderSandbox } from './folder-sandbox.ts';
import { makeImageFolder, type Progress } from './image/image.ts';
import type { Sandbox } from './sandbox.ts';

export type UnprotectedSandboxOptions = { dataDir: string; owner: string; onProgress: Progress };

/** Limits time, log and output as a real sandbox does, but not memory, processes, files or network. */
export async function openUnprotectedSandbox({
  dataDir,
  owner,
  onProgress,
}: UnprotectedSandboxOptions): Promise<Sandbox> {
  const image = await makeImageFolder(dataDir, onProgress);
  return folderSandbox({ kind: 'unprotected', image, owner, enclose: () => [] });
}

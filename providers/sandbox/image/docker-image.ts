/** Adds the sandbox's image to a container engine, without a registry if possible. */
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import type Docker from 'dockerode';
import {
  imageId,
  imageNodeVersion,
  imageParts,
  makeImageFolder,
  type Progress,
  runnerCommand,
  siteFolder,
} from './image.ts';

const repository = 'frontage-sandbox';
const label = 'frontage.image';
const keptSeconds = 7 * 24 * 3600;

/**
 * Returns the image's id and its tag, and builds the image if the engine lacks it. The tag is set only on a complete image; two concurrent
 * builds create the same image twice.
 */
export async function makeDockerImage(
  docker: Docker,
  dataDir: string,
  onProgress: Progress,
): Promise<{ id: string; tag: string }> {
  const id = await imageId();
  const tag = `${repository}:${id}`;
  const found = await docker.listImages({ filters: { reference: [tag], label: [`${label}=${id}`] } });
  if (found.length > 0) return { id, tag };
  const { Arch } = await docker.version();
  const own = process.platform === 'linux' && Arch === (process.arch === 'x64' ? 'amd64' : process.arch);
  await (own ? importFolder(docker, dataDir, id, onProgress) : buildFromPublicNode(docker, id, onProgress));
  await removeEarlierImages(docker, tag);
  onProgress('The sandbox image is already in the container engine.');
  return { id, tag };
}

/** Removes other images that are older than a week and unused. Younger ones may belong to another installation. */
export async function removeEarlierImages(docker: Docker, tag: string): Promise<void> {
  const { SystemTime } = await docker.info();
  const before = new Date(SystemTime).getTime() / 1000 - keptSeconds;
  for (const { Id, Created, RepoTags } of await docker.listImages({ filters: { label: [label] } })) {
    if (Created > before || RepoTags?.includes(tag)) continue;
    await docker
      .getImage(Id)
      .remove()
      .catch(() => {}); // In use, or gone.
  }
}

async function importFolder(docker: Docker, dataDir: string, id: string, onProgress: Progress): Promise<void> {
  const { path } = await makeImageFolder(dataDir, onProgress);
  onProgress('Loading the sandbox image into the container engine…');
  const names = await readdir(path);
  const tar = spawn('tar', ['-C', path, '--numeric-owner', '--owner=0', '--group=0', '-cf', '-', ...names], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve, reject) => tar.once('error', reject).once('exit', resolve));
  ended.catch(() => {}); // Awaited below, after the import.
  const changes = [
    `LABEL ${label}=${id}`,
    'ENV PATH=/usr/bin',
    'USER 10001:10001',
    `WORKDIR ${siteFolder}`,
    `CMD ${JSON.stringify(runnerCommand)}`,
  ];
  const answer = await docker.importImage(tar.stdout, { repo: repository, tag: id, changes });
  await finish(docker, answer);
  if ((await ended) !== 0) throw new Error('The sandbox folder could not be read.');
}

async function buildFromPublicNode(docker: Docker, id: string, onProgress: Progress): Promise<void> {
  onProgress('Building the sandbox image from the public Node image…');
  const answer = await docker.buildImage(
    { context: import.meta.dirname, src: ['Dockerfile', ...imageParts] },
    {
      t: `${repository}:${id}`,
      labels: { [label]: id },
      buildargs: { NODE_VERSION: (await imageNodeVersion()).slice(1) },
    },
  );
  await finish(docker, answer);
}

async function finish(docker: Docker, answer: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(answer, (error, rows) => {
      const refused = rows?.find((row) => row.error)?.error;
      if (error || refused) reject(error ?? new Error(refused));
      else resolve();
    });
  });
}

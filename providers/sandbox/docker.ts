/** Builds in containers of an engine that speaks the Docker API: one container, one site, then it is removed. */
import { type Duplex, PassThrough } from 'node:stream';
import type Docker from 'dockerode';
import { makeDockerImage } from '../../sandbox/docker-image.ts';
import { type Progress, runnerCommand } from '../../sandbox/image.ts';
import { demultiplex } from './demultiplex.ts';
import { type Box, runBuild } from './run.ts';
import type { BuildLimits, BuildRequest, Sandbox } from './sandbox.ts';

const labels = { deployment: 'frontage.deployment', attempt: 'frontage.attempt', owner: 'frontage.owner' };
const inodesMax = 400_000;
const lastAnswerMs = 2_000;

export type DockerSandboxOptions = {
  docker: Docker;
  dataDir: string;
  /** Stable id of this installation: two on one engine never touch each other's containers. */
  owner: string;
  onProgress: Progress;
};

/** Makes the image where the engine lacks it, and answers a sandbox of containers. */
export async function openDockerSandbox({
  docker,
  dataDir,
  owner,
  onProgress,
}: DockerSandboxOptions): Promise<Sandbox> {
  const image = await makeDockerImage(docker, dataDir, onProgress);

  async function build(request: BuildRequest) {
    request.signal.throwIfAborted();
    await removeContainers(docker, [`${labels.owner}=${owner}`, `${labels.deployment}=${request.deploymentId}`]);
    return runBuild(request, () => openBox(docker, image.tag, owner, request));
  }

  async function sweep(isRunning: (deploymentId: string) => Promise<boolean>) {
    let removed = 0;
    const found = await docker.listContainers({ all: true, filters: { label: [`${labels.owner}=${owner}`] } });
    for (const { Id, Labels } of found) {
      if (await isRunning(Labels[labels.deployment] ?? '')) continue;
      await removeContainer(docker.getContainer(Id));
      removed += 1;
    }
    return removed;
  }

  return { kind: 'docker', image: image.id, build, sweep, close: async () => {} };
}

/** Create, attach, start, wait: no byte can be missed, and without auto-remove no exit either. */
async function openBox(docker: Docker, tag: string, owner: string, request: BuildRequest): Promise<Box> {
  const container = await docker.createContainer(describeContainer(tag, owner, request));
  try {
    const wire = (await container.attach({
      stream: true,
      stdin: true,
      stdout: true,
      stderr: true,
      hijack: true,
    })) as Duplex;
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    demultiplex(wire, stdout, stderr);
    await container.start();
    return { stdin: wire, stdout, stderr, exited: readExit(container, wire), kill: killer(container, wire) };
  } catch (error) {
    await removeContainer(container);
    throw error;
  }
}

function killer(container: Docker.Container, wire: Duplex) {
  let killed: Promise<void> | undefined;
  return () => {
    killed ??= removeContainer(container).finally(() => wire.destroy());
    return killed;
  };
}

/** A container removed under our hands has no state left: its wait answered, or it ended without a code. */
async function readExit(container: Docker.Container, wire: Duplex) {
  const code = await Promise.race([
    container.wait({ condition: 'not-running' }).then(
      ({ StatusCode }: { StatusCode: number }) => StatusCode,
      () => null,
    ),
    // The library never answers a wait whose engine died half-way; the stream of that engine ends.
    new Promise<null>((resolve) => wire.once('close', () => setTimeout(resolve, lastAnswerMs, null))),
  ]);
  const state = await container.inspect().then(
    ({ State }) => State,
    () => undefined,
  );
  return { code, outOfMemory: state?.OOMKilled === true };
}

async function removeContainers(docker: Docker, label: string[]): Promise<void> {
  const found = await docker.listContainers({ all: true, filters: { label } });
  await Promise.all(found.map(({ Id }) => removeContainer(docker.getContainer(Id))));
}

/** Removing kills. Gone already, or being removed by another, is as good. */
async function removeContainer(container: Docker.Container): Promise<void> {
  await container.remove({ force: true, v: true }).catch((error: { statusCode?: number }) => {
    if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
  });
}

function describeContainer(image: string, owner: string, request: BuildRequest): Docker.ContainerCreateOptions {
  return {
    Image: image,
    Labels: {
      [labels.owner]: owner,
      [labels.deployment]: request.deploymentId,
      [labels.attempt]: String(request.attempt),
    },
    Cmd: runnerCommand,
    User: '10001:10001',
    WorkingDir: '/site',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    // Same lo-only namespace as network "none", and the engine starts it 0.1 s sooner.
    NetworkDisabled: true,
    HostConfig: confine(request.limits),
  };
}

function confine(limits: BuildLimits): Docker.HostConfig {
  const mount = `rw,nosuid,nodev,noexec,nr_inodes=${inodesMax},uid=10001,gid=10001,mode=0700`;
  return {
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: limits.pidsMax,
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    IpcMode: 'none',
    LogConfig: { Type: 'none', Config: {} },
    // Both count towards the container's memory, so their sizes only bound who fills them.
    Tmpfs: {
      '/site': `${mount},size=${limits.memoryBytes}`,
      '/tmp': `${mount},size=${Math.round(limits.memoryBytes / 2)}`,
    },
  };
}
